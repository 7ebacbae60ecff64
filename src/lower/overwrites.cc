#include "lathe/lower/overwrites.h"

#include <algorithm>
#include <set>

#include "lathe/base/check.h"
#include "lathe/base/table.h"
#include "lathe/lower/group_reads.h"

namespace lathe::lower {

using graph::Graph;
using graph::Value;

namespace {

class Chooser {
 public:
  Chooser(const Graph& graph, Fusion& fusion) : graph_(graph), fusion_(fusion) {}

  void run() {
    fusion_.overwrites.assign(graph_.nodes.size(), Value{});
    update_states_inplace();
    overwrite_dying();
  }

 private:
  // An update may write its state's buffer when every other reader can run before it.
  void update_states_inplace() {
    const int count = static_cast<int>(fusion_.groups.size());
    std::vector<std::set<int>> before(count);  // groups that must run before
    Table<Value, std::vector<int>> readers(graph_.nodes.size());
    Table<Value, std::set<int>> scattered(graph_.nodes.size());
    for (int g = 0; g < count; ++g) {
      visit_group_reads(graph_, fusion_, g, [&](Value read, bool elementwise) {
        if (const int owner = fusion_.group_of[read]; owner >= 0) before[g].insert(owner);
        readers[read].push_back(g);
        if (!elementwise) scattered[read].insert(g);
      });
    }
    std::set<Value> claimed;
    for (const auto& output : graph_.outputs) claimed.insert(output.value);
    for (const graph::Update& update : graph_.updates) {
      const int writer = fusion_.group_of[update.value];
      if (writer < 0 || !claimed.insert(update.value).second) continue;
      if (scattered[update.state].contains(writer)) continue;
      const auto& users = readers[update.state];
      const bool possible = std::ranges::all_of(users, [&](int reader) {
        return reader == writer || !must_precede(before, writer, reader);
      });
      if (!possible) continue;
      for (int reader : users) {
        if (reader != writer) before[writer].insert(reader);
      }
      fusion_.overwrites[update.value] = update.state;
    }
    order(before);
  }

  // Only maps visit each element once.
  void overwrite_dying() {
    const int count = static_cast<int>(fusion_.groups.size());
    Table<Value, int> last_reader(graph_.nodes.size(), -1);
    for (int g = 0; g < count; ++g) {
      visit_group_reads(graph_, fusion_, g, [&](Value read, bool) { last_reader[read] = g; });
    }
    Table<Value, bool> lives_on(graph_.nodes.size());
    for (const auto& update : graph_.updates) lives_on[update.value] = true;
    for (const auto& output : graph_.outputs) lives_on[output.value] = true;
    for (int g = 0; g < count; ++g) {
      const Group& group = fusion_.groups[g];
      if (!group.axes.empty() || !is_pointwise(graph_[group.anchor()].kind)) continue;
      std::set<Value> dying;
      std::set<Value> read_elsewhere;
      visit_group_reads(graph_, fusion_, g, [&](Value read, bool elementwise) {
        const bool dies = last_reader[read] == g && !is_leaf(graph_[read]) && !lives_on[read];
        if (dies) (elementwise ? dying : read_elsewhere).insert(read);
      });
      for (Value read : read_elsewhere) dying.erase(read);
      for (Value member : group.members) {
        if (!fusion_.stored[member] || lives_on[member]) continue;
        const auto found = std::ranges::find_if(
            dying, [&](Value read) { return graph_[read].dtype == graph_[member].dtype; });
        if (found == dying.end()) continue;
        fusion_.overwrites[member] = *found;
        dying.erase(found);
      }
    }
  }

  static bool must_precede(const std::vector<std::set<int>>& before, int first, int then) {
    if (first == then) return true;
    std::vector<bool> seen(before.size());
    std::vector<int> stack = {then};
    while (!stack.empty()) {
      const int group = stack.back();
      stack.pop_back();
      for (int earlier : before[group]) {
        if (earlier == first) return true;
        if (!seen[earlier]) {
          seen[earlier] = true;
          stack.push_back(earlier);
        }
      }
    }
    return false;
  }

  // The earliest group that is ready comes next: a group that had to wait runs as early as
  // possible, so what it reads dies early.
  void order(const std::vector<std::set<int>>& before) {
    const size_t count = fusion_.groups.size();
    std::vector<std::vector<int>> after(count);
    std::vector<size_t> waits_for(count);
    std::set<int> ready;
    for (size_t g = 0; g < count; ++g) {
      waits_for[g] = before[g].size();
      for (int earlier : before[g]) after[earlier].push_back(static_cast<int>(g));
      if (before[g].empty()) ready.insert(static_cast<int>(g));
    }
    std::vector<int> position(count, -1);
    std::vector<Group> sorted;
    while (!ready.empty()) {
      const int group = *ready.begin();
      ready.erase(ready.begin());
      position[group] = static_cast<int>(sorted.size());
      sorted.push_back(std::move(fusion_.groups[group]));
      for (int later : after[group]) {
        if (--waits_for[later] == 0) ready.insert(later);
      }
    }
    LATHE_CHECK(sorted.size() == count);
    fusion_.groups = std::move(sorted);
    for (int& group : fusion_.group_of) {
      if (group >= 0) group = position[group];
    }
  }

  const Graph& graph_;
  Fusion& fusion_;
};

}  // namespace

void choose_overwrites(const Graph& graph, Fusion& fusion) { Chooser(graph, fusion).run(); }

}  // namespace lathe::lower
