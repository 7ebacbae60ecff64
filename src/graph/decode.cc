#include <concepts>
#include <string>
#include <type_traits>

#include "lathe/graph/binary.h"
#include "lathe/graph/transfer.h"

namespace lathe::graph {

namespace {

// Loops in loops.
constexpr int kDeepest = 32;

class Reader {
 public:
  Reader(std::span<const uint8_t> bytes, std::span<const SharedBytes> constants)
      : bytes_(bytes), constants_(constants) {}

  bool ok() const { return ok_; }

  template <class T>
  void operator()(T& x) {
    if constexpr (std::is_enum_v<T> || std::integral<T>) {
      x = static_cast<T>(number());
    } else if constexpr (requires { x.size(); }) {
      // Each element takes a byte at least.
      const int64_t count = number();
      ok_ = ok_ && count >= 0 && static_cast<uint64_t>(count) <= bytes_.size();
      if (ok_) x.resize(static_cast<size_t>(count));
      for (auto& each : x) (*this)(each);
    } else {
      transfer(*this, x);
    }
  }
  void data(Node& node) {
    if (node.kind != Kind::Constant) return;
    const auto at = static_cast<uint64_t>(number());
    ok_ = ok_ && at < constants_.size();
    if (ok_) node.data = constants_[at];
  }

  void body(Node& node) {
    if (node.kind != Kind::Loop) return;
    Graph body;
    ok_ = ok_ && ++depth_ < kDeepest;
    if (ok_) (*this)(body);
    --depth_;
    node.body = std::make_shared<const Graph>(std::move(body));
  }

 private:
  int64_t number() {
    uint64_t value = 0;
    for (int shift = 0; !bytes_.empty() && shift < 70; shift += 7) {
      const uint8_t byte = bytes_.front();
      bytes_ = bytes_.subspan(1);
      if (shift < 64) value |= static_cast<uint64_t>(byte & 127) << shift;
      if (byte >= 128) continue;
      if (byte >= 64 && shift < 57) value |= ~uint64_t{0} << (shift + 7);
      return static_cast<int64_t>(value);
    }
    ok_ = false;
    return 0;
  }

  std::span<const uint8_t> bytes_;
  std::span<const SharedBytes> constants_;
  bool ok_ = true;
  int depth_ = 0;
};

}  // namespace

Result<Graph> decode(std::span<const uint8_t> bytes, std::span<const SharedBytes> constants) {
  Reader reader(bytes, constants);
  Graph graph;
  reader(graph);
  if (!reader.ok()) return fail("graph: these bytes are none");
  return graph;
}

}  // namespace lathe::graph
