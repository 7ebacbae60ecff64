#include "lathe/export/onnx/export.h"

#include <algorithm>
#include <set>

#include "lathe/base/text.h"
#include "lathe/export/onnx/emitter.h"
#include "lathe/export/onnx/symbols.h"
#include "lathe/opt/eliminate_common_subexpressions.h"
#include "lathe/opt/eliminate_dead_code.h"
#include "lathe/opt/fold_conditions.h"
#include "lathe/opt/prune_loops.h"
#include "lathe/opt/widen_types.h"

namespace lathe::onnx_export {

using graph::Kind;

namespace {

graph::Graph prepared(graph::Graph graph) {
  using graph::with_bodies;
  graph = with_bodies<opt::eliminate_dead_code>(std::move(graph));
  graph = with_bodies<opt::prune_loops>(std::move(graph));
  graph = with_bodies<opt::fold_conditions>(std::move(graph));
  graph = with_bodies<opt::widen_types>(std::move(graph));
  graph = with_bodies<opt::eliminate_common_subexpressions>(std::move(graph));
  return with_bodies<opt::eliminate_dead_code>(std::move(graph));
}

SharedBytes content_of(const graph::Node& state, std::span<const graph::StateContent> contents) {
  const auto found = std::ranges::find(contents, state.name, &graph::StateContent::name);
  if (found != contents.end()) return found->data;
  const auto elements = static_cast<size_t>(graph::element_count(state.shape));
  return std::vector<std::byte>(elements * static_cast<size_t>(scalar::size_of(state.dtype)));
}

// One graph on its way.
class Exporter {
 public:
  Exporter(const graph::Graph& graph, std::span<const graph::StateContent> contents,
           const Options& options)
      : source_(graph),
        graph_(prepared(graph)),
        contents_(contents),
        options_(options),
        emitter_(shared_, graph_, model_) {}

  Result<Graph> run() {
    model_.name = options_.name.empty() ? graph_.name : options_.name;
    reserve_names();
    for (const graph::Node& node : source_.nodes) {
      if (node.kind != Kind::Input) continue;
      model_.inputs.push_back({name_of(options_.inputs, node.name), node.dtype, node.shape});
    }
    for (size_t id = 0; id < graph_.nodes.size(); ++id) add_input({static_cast<int32_t>(id)});
    LATHE_TRY(emit_nodes(emitter_));
    for (const graph::Output& output : graph_.outputs) {
      add_output(name_of(options_.outputs, output.name), output.value);
    }
    for (const graph::Update& update : graph_.updates) {
      add_output(concat(graph_[update.state].name, "/next"), update.value);
    }
    model_.constants = std::move(shared_.constants);
    return std::move(model_);
  }

 private:
  static std::string name_of(const std::map<std::string, std::string>& names,
                             const std::string& name) {
    const auto found = names.find(name);
    return found == names.end() ? name : found->second;
  }

  // Names visible to users are unique.
  void reserve_names() {
    for (const graph::Node& node : source_.nodes) {
      if (node.kind == Kind::Input)
        shared_.reserved_names.insert(name_of(options_.inputs, node.name));
      if (node.kind == Kind::State)
        shared_.reserved_names.insert({node.name, concat(node.name, "/before")});
    }
    for (const graph::Output& output : graph_.outputs) {
      shared_.reserved_names.insert(name_of(options_.outputs, output.name));
    }
    for (const graph::Update& update : graph_.updates) {
      shared_.reserved_names.insert(concat(graph_[update.state].name, "/next"));
    }
  }

  bool is_updated(Value state) const {
    return std::ranges::find(graph_.updates, state, &graph::Update::state) != graph_.updates.end();
  }

  void add_input(Value value) {
    const graph::Node& node = graph_[value];
    if (node.kind == Kind::Input) {
      const std::string name = name_of(options_.inputs, node.name);
      emitter_.set(value, PermutedTensor::plain({name, node.dtype, node.shape}));
    }
    if (node.kind != Kind::State) return;
    if (is_updated(value)) {
      const bool is_output = std::ranges::any_of(source_.outputs, [&](const graph::Output& each) {
        return name_of(options_.outputs, each.name) == node.name;
      });
      const std::string name = is_output ? concat(node.name, "/before") : node.name;
      model_.inputs.push_back({name, node.dtype, node.shape});
      emitter_.set(value, PermutedTensor::plain({name, node.dtype, node.shape}));
    } else {
      const SharedBytes content = content_of(node, contents_);
      emitter_.set(value, PermutedTensor::plain(emitter_.writer.constant(node.dtype, node.shape,
                                                                         content, node.name)));
    }
  }

  void add_output(const std::string& name, Value value) {
    const Tensor x = emitter_.plain(value);
    emitter_.writer.add({"Identity", {x.name}, {name}, {}});
    model_.outputs.push_back({name, x.dtype, x.shape});
  }

  const graph::Graph& source_;
  const graph::Graph graph_;
  std::span<const graph::StateContent> contents_;
  const Options& options_;
  Shared shared_;
  Graph model_;
  Emitter emitter_;
};

Status check_names(const Graph& model) {
  std::set<std::string> seen;
  for (const auto* ports : {&model.inputs, &model.outputs}) {
    for (const Port& port : *ports) {
      if (!seen.insert(port.name).second) {
        return fail(concat("two inputs or outputs are called \"", port.name, "\"; rename one"));
      }
    }
  }
  return {};
}

}  // namespace

std::vector<std::vector<int64_t>> sample_sizes(size_t symbols, int attempt) {
  // A row for each remainder by 8; sizes that models hardly have elsewhere, so that what is equal
  // belongs together. Every column has all remainders by 3.
  static constexpr size_t kColumns = 6;
  static constexpr int64_t kSizes[8][kColumns] = {
      {88, 104, 136, 152, 184, 232}, {41, 73, 89, 57, 97, 113},   {42, 66, 114, 106, 90, 122},
      {43, 59, 67, 83, 107, 115},    {44, 52, 68, 76, 92, 116},   {37, 53, 61, 101, 109, 117},
      {46, 62, 86, 94, 110, 118},    {47, 71, 79, 103, 111, 119},
  };
  static constexpr size_t kLow = 5, kHigh = 0;
  const auto size = [&](size_t remainder, size_t symbol) {
    return kSizes[remainder % 8][(symbol + static_cast<size_t>(attempt)) % kColumns];
  };
  std::vector<std::vector<int64_t>> samples;
  for (size_t corner = 0; corner < size_t{1} << symbols; ++corner) {
    std::vector<int64_t>& sizes = samples.emplace_back();
    for (size_t symbol = 0; symbol < symbols; ++symbol) {
      sizes.push_back(size((corner >> symbol & 1) != 0 ? kHigh : kLow, symbol));
    }
  }
  // Sizes of one sample have different remainders, and each symbol has all of them.
  for (size_t check = 0; symbols > 0 && check < 8; ++check) {
    std::vector<int64_t>& sizes = samples.emplace_back();
    for (size_t symbol = 0; symbol < symbols; ++symbol) {
      sizes.push_back(size(check + 3 * symbol, symbol + 1));
    }
  }
  return samples;
}

Result<Exported> export_onnx(const graph::Graph& graph,
                             std::span<const graph::StateContent> contents,
                             const Options& options) {
  const Sample samples[] = {{{}, graph}};
  return export_onnx(samples, {}, contents, options);
}

Result<Exported> export_onnx(std::span<const Sample> samples,
                             const std::vector<std::string>& symbols,
                             std::span<const graph::StateContent> contents,
                             const Options& options) {
  std::vector<Graph> models;
  std::vector<std::vector<int64_t>> sizes;
  for (const Sample& sample : samples) {
    LATHE_ASSIGN_OR_RETURN(Graph model, Exporter(sample.graph, contents, options).run());
    LATHE_TRY(check_names(model));
    drop_unread(model);
    models.push_back(std::move(model));
    sizes.push_back(sample.sizes);
  }
  Exported exported;
  auto open = symbols.empty() ? std::nullopt : with_symbols(models, sizes, symbols);
  exported.has_symbols = open.has_value();
  Graph model = open ? *std::move(open) : std::move(models[0]);
  drop_unread(model);
  join_equal(model);
  LATHE_ASSIGN_OR_RETURN(exported.file, encode(model, options.producer_version));
  return exported;
}

}  // namespace lathe::onnx_export
