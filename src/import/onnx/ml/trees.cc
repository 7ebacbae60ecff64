// Ensembles of decision trees: every tree of every row goes down one level at each step of a loop,
// where a leaf leads to itself.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "lathe/base/text.h"
#include "lathe/graph/elements.h"
#include "lathe/import/onnx/ml/ml.h"
#include "lathe/import/onnx/trace/operators.h"
#include "lathe/ops/movement/indexing.h"
#include "lathe/ops/movement/movement.h"
#include "lathe/ops/reduction/recurrence.h"
#include "lathe/ops/reduction/reductions.h"

namespace lathe::onnx::rows {

using graph::Builder;
using graph::Op;

namespace {

constexpr int64_t kMaxWeights = int64_t{1} << 26;

enum class Mode : uint8_t { LessOrEqual, Less, GreaterOrEqual, Greater, Equal, NotEqual, Member };
enum class Aggregate : uint8_t { Average, Sum, Min, Max };

struct Forest {
  struct Node {
    Mode mode = Mode::LessOrEqual;
    int32_t feature = 0;
    double value = 0;
    bool missing_is_true = false, is_leaf = false;
    size_t then = 0, otherwise = 0;
  };
  struct Vote {
    size_t node;
    int64_t target;
    double weight;
  };
  std::vector<Node> nodes;
  std::vector<size_t> roots;
  std::vector<Vote> votes;
  int64_t targets = 1;
  Aggregate aggregate = Aggregate::Sum;
};

// Numbers of an attribute, or of its variant that is a tensor.
std::vector<double> numbers_of(const Call& call, const std::string& name) {
  std::vector<double> values;
  for (const std::string& each : {concat(name, "_as_tensor"), name}) {
    const AttributeProto* found = call.attribute(each);
    if (found == nullptr) continue;
    for (const TensorProto& tensor : found->tensors) {
      for (int64_t k = 0; k < tensor.content.count(); ++k)
        values.push_back(tensor.content.number(k));
    }
    values.insert(values.end(), found->numbers.begin(), found->numbers.end());
    if (!values.empty()) break;
  }
  return values;
}

// Steps from the roots to the deepest leaf. Errors: a way that does not end.
Result<int64_t> depth_of(const Call& call, const Forest& forest) {
  enum : uint8_t { New, Open, Done };
  std::vector<uint8_t> state(forest.nodes.size(), New);
  std::vector<int64_t> height(forest.nodes.size());
  int64_t deepest = 0;
  for (const size_t root : forest.roots) {
    std::vector<size_t> open = {root};
    while (!open.empty()) {
      const size_t at = open.back();
      const Forest::Node& node = forest.nodes[at];
      if (node.is_leaf || state[at] == Done) {
        state[at] = Done;
        open.pop_back();
        continue;
      }
      const bool was_open = state[at] == Open;
      state[at] = Open;
      for (const size_t child : {node.then, node.otherwise}) {
        if (was_open) continue;
        if (state[child] == Open) return call.reject("a tree leads back to itself");
        if (state[child] == New) open.push_back(child);
      }
      if (!was_open && open.back() != at) continue;
      height[at] = 1 + std::max(height[node.then], height[node.otherwise]);
      state[at] = Done;
      open.pop_back();
    }
    deepest = std::max(deepest, height[root]);
  }
  return deepest;
}

// Columns of the nodes as tensors of the body of the loop.
struct Tables {
  const Forest& forest;
  Builder& builder;

  template <class Function>
  Tensor integers(const Function& column) const {
    std::vector<int32_t> values;
    for (const Forest::Node& node : forest.nodes)
      values.push_back(static_cast<int32_t>(column(node)));
    return indices_constant(builder, {static_cast<int64_t>(values.size())}, values);
  }
  Tensor thresholds(DType dtype) const {
    std::vector<std::byte> bytes;
    for (const Forest::Node& node : forest.nodes) {
      const auto one = graph::bytes_of(scalar::Number::from(dtype, node.value));
      bytes.insert(bytes.end(), one.begin(), one.end());
    }
    return builder.constant(dtype, {static_cast<int64_t>(forest.nodes.size())}, std::move(bytes));
  }
};

Tensor compared(Mode mode, Tensor x, Tensor y) {
  switch (mode) {
    case Mode::LessOrEqual:
      return x <= y;
    case Mode::Less:
      return x < y;
    case Mode::GreaterOrEqual:
      return x >= y;
    case Mode::Greater:
      return x > y;
    case Mode::NotEqual:
      return x.builder->map(Op::Ne, std::array{x, y});
    case Mode::Equal:
    case Mode::Member:
      return x == y;
  }
  return x == y;
}

// One step of all trees: indices [n, trees] of nodes to those of their children.
Tensor next_nodes(const Forest& forest, Tensor x, Tensor at) {
  Builder& builder = *at.builder;
  const Tables tables{forest, builder};
  const auto of = [&](Tensor column) { return ops::gather(column, at, 0); };
  const Tensor feature = of(tables.integers([](const auto& node) { return node.feature; }));
  const Tensor value = ops::take_along_axis(x, feature, 1);
  const Tensor threshold = of(tables.thresholds(x.dtype()));
  std::vector<Mode> modes;
  bool has_missing = false;
  for (const Forest::Node& node : forest.nodes) {
    if (node.is_leaf) continue;
    if (std::ranges::count(modes, node.mode) == 0) modes.push_back(node.mode);
    has_missing = has_missing || node.missing_is_true;
  }
  Tensor is_true = compared(modes[0], value, threshold);
  if (modes.size() > 1) {
    const Tensor mode = of(tables.integers([](const auto& node) { return node.mode; }));
    for (size_t k = 1; k < modes.size(); ++k) {
      const Tensor mode_k = builder.full({}, scalar::Number::of(static_cast<int32_t>(modes[k])));
      is_true = select(mode == mode_k, compared(modes[k], value, threshold), is_true);
    }
  }
  if (has_missing) {
    const Tensor missing =
        of(tables.integers([](const auto& node) { return node.missing_is_true; }));
    const Tensor is_nan = builder.map(Op::Ne, std::array{value, value});
    const Tensor both =
        builder.map(Op::And, std::array{is_nan, builder.cast(missing, DType::Bool)});
    is_true = builder.map(Op::Or, std::array{is_true, both});
  }
  return select(is_true, of(tables.integers([](const auto& node) { return node.then; })),
                of(tables.integers([](const auto& node) { return node.otherwise; })));
}

// The leaves [n, trees] that rows x [n, features] reach.
Result<Tensor> leaves_of(Call& call, const Forest& forest, Tensor x) {
  LATHE_ASSIGN_OR_RETURN(const int64_t depth, depth_of(call, forest));
  for (const Forest::Node& node : forest.nodes) {
    if (!node.is_leaf && (node.feature < 0 || node.feature >= x.shape()[1])) {
      return call.reject(
          concat("a node tests feature ", node.feature, " of input ", bracketed(x.shape())));
    }
  }
  const auto trees = static_cast<int64_t>(forest.roots.size());
  const std::vector<int32_t> roots(forest.roots.begin(), forest.roots.end());
  Builder& builder = call.builder();
  const Tensor start = builder.broadcast_to(indices_constant(builder, {1, trees}, roots),
                                            {x.shape()[0], trees}, call.op());
  if (depth == 0) return start;
  const auto body = [&](const ops::ScanStep& step) {
    return ops::ScanResult{{next_nodes(forest, step.invariants[0], step.carried[0])}, {}};
  };
  const auto result = ops::scan(builder, {.steps = depth}, {{start}}, {}, {{x}}, body);
  if (result.carried.empty()) return call.reject(builder.message());
  return result.carried[0];
}

// The aggregated votes of the trees: [n, targets].
Result<Tensor> scores_of(Call& call, const Forest& forest, Tensor x) {
  const auto count = static_cast<int64_t>(forest.nodes.size());
  if (forest.roots.empty() || forest.targets <= 0 || forest.targets > kMaxWeights / count) {
    return call.reject(concat("has ", forest.roots.size(), " trees of ", count, " nodes for ",
                              forest.targets, " targets"));
  }
  LATHE_ASSIGN_OR_RETURN(const Tensor leaves, leaves_of(call, forest, x));
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const bool is_min = forest.aggregate == Aggregate::Min,
             is_max = forest.aggregate == Aggregate::Max;
  const double none = is_min ? kInfinity : is_max ? -kInfinity : 0;
  std::vector<double> weights(count * forest.targets, none);
  for (const Forest::Vote& vote : forest.votes) {
    if (vote.target < 0 || vote.target >= forest.targets) {
      return call.reject(concat("a leaf names target ", vote.target, " of ", forest.targets));
    }
    double& weight =
        weights[vote.node * static_cast<size_t>(forest.targets) + static_cast<size_t>(vote.target)];
    weight = is_min   ? std::min(weight, vote.weight)
             : is_max ? std::max(weight, vote.weight)
                      : weight + vote.weight;
  }
  Builder& builder = call.builder();
  const Content table = numbers_content(type_of(x.dtype()), {count, forest.targets}, weights);
  const Tensor votes = ops::gather(builder.constant(x.dtype(), table.shape, table.data), leaves, 0);
  if (is_min || is_max) {
    const Tensor best = builder.reduce(is_min ? Op::Min : Op::Max, votes, {1});
    const Tensor nothing = builder.full({}, scalar::Number::from(x.dtype(), none));
    return select(best == nothing, zero(best), best);
  }
  const Tensor total = sum(votes, {1});
  if (forest.aggregate == Aggregate::Sum) return total;
  return total / static_cast<float>(forest.roots.size());
}

// The lists of TreeEnsembleClassifier and TreeEnsembleRegressor; votes are lists `kind`_….
class ForestReader {
 public:
  ForestReader(const Call& call, const std::string& kind) : call_(call), kind_(kind) {}

  Result<Forest> run() {
    LATHE_TRY(read_nodes());
    LATHE_TRY(read_votes());
    return std::move(forest_);
  }

 private:
  using Key = std::pair<int64_t, int64_t>;

  Status read_nodes() {
    const auto trees = call_.ints_of("nodes_treeids"), ids = call_.ints_of("nodes_nodeids");
    const auto modes = call_.strings_of("nodes_modes");
    const auto features = call_.ints_of("nodes_featureids");
    const auto then = call_.ints_of("nodes_truenodeids");
    const auto otherwise = call_.ints_of("nodes_falsenodeids");
    const auto missing = call_.ints_of("nodes_missing_value_tracks_true");
    const auto values = numbers_of(call_, "nodes_values");
    const size_t count = ids.size();
    if (count == 0 || trees.size() != count || modes.size() != count || features.size() != count ||
        then.size() != count || otherwise.size() != count || values.size() != count ||
        (!missing.empty() && missing.size() != count)) {
      return call_.reject("its lists nodes_… have not one length");
    }
    for (size_t k = 0; k < count; ++k) node_indices_[{trees[k], ids[k]}] = k;
    if (node_indices_.size() != count) return call_.reject("a tree has two nodes of one id");
    std::vector<bool> is_child(count);
    for (size_t k = 0; k < count; ++k) {
      LATHE_ASSIGN_OR_RETURN(const Mode mode, mode_of(modes[k]));
      Forest::Node node{.mode = mode,
                        .feature = static_cast<int32_t>(features[k]),
                        .value = values[k],
                        .missing_is_true = !missing.empty() && missing[k] != 0,
                        .is_leaf = modes[k] == "LEAF",
                        .then = k,
                        .otherwise = k};
      if (!node.is_leaf) {
        const auto first = node_indices_.find({trees[k], then[k]});
        const auto second = node_indices_.find({trees[k], otherwise[k]});
        if (first == node_indices_.end() || second == node_indices_.end()) {
          return call_.reject(concat("node ", ids[k], " of tree ", trees[k], " has no such child"));
        }
        node.then = first->second;
        node.otherwise = second->second;
        is_child[node.then] = is_child[node.otherwise] = true;
      }
      forest_.nodes.push_back(node);
    }
    for (size_t k = 0; k < count; ++k) {
      if (!is_child[k]) forest_.roots.push_back(k);
    }
    return {};
  }

  Result<Mode> mode_of(std::string_view name) const {
    constexpr std::string_view kNames[] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                           "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ"};
    const auto* found = std::ranges::find(kNames, name);
    if (found != std::end(kNames)) return static_cast<Mode>(found - kNames);
    if (name == "LEAF") return Mode::LessOrEqual;
    return call_.reject(concat("knows no mode '", name, '\''));
  }

  Status read_votes() {
    const auto trees = call_.ints_of(concat(kind_, "_treeids"));
    const auto ids = call_.ints_of(concat(kind_, "_nodeids"));
    const auto targets = call_.ints_of(concat(kind_, "_ids"));
    const auto weights = numbers_of(call_, concat(kind_, "_weights"));
    if (trees.size() != ids.size() || targets.size() != ids.size() ||
        weights.size() != ids.size()) {
      return call_.reject(concat("its lists ", kind_, "_… have not one length"));
    }
    for (size_t k = 0; k < ids.size(); ++k) {
      const auto found = node_indices_.find({trees[k], ids[k]});
      if (found == node_indices_.end()) {
        return call_.reject(concat("there is no node ", ids[k], " of tree ", trees[k]));
      }
      forest_.votes.push_back({found->second, targets[k], weights[k]});
    }
    return {};
  }

  const Call& call_;
  const std::string kind_;
  std::map<Key, size_t> node_indices_;
  Forest forest_;
};

Result<Aggregate> aggregate_of(const Call& call) {
  constexpr std::string_view kNames[] = {"AVERAGE", "SUM", "MIN", "MAX"};
  const AttributeProto* attribute = call.attribute("aggregate_function");
  if (attribute == nullptr) return Aggregate::Sum;
  if (attribute->kind == AttributeProto::Kind::Int && attribute->integer >= 0 &&
      attribute->integer < 4) {
    return static_cast<Aggregate>(attribute->integer);
  }
  const auto* found = std::ranges::find(kNames, attribute->string);
  if (found != std::end(kNames)) return static_cast<Aggregate>(found - kNames);
  return call.reject(concat("knows no aggregate_function '", attribute->string, '\''));
}

// Added to the scores of each target; nothing where there are none.
Result<Tensor> base_values(Call& call, Tensor scores) {
  const std::vector<double> values = numbers_of(call, "base_values");
  if (values.empty()) return scores;
  const auto count = static_cast<int64_t>(values.size());
  if (count != scores.shape()[1] && count != 1) {
    return call.reject(concat("has ", count, " base values for ", scores.shape()[1], " scores"));
  }
  const Content table = numbers_content(type_of(scores.dtype()), {1, count}, values);
  return scores + call.builder().constant(scores.dtype(), table.shape, table.data);
}

}  // namespace

Result<Values> tree_ensemble_regressor(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const Tensor x, features(call));
  LATHE_ASSIGN_OR_RETURN(const PostTransform transform, post_transform_of(call));
  LATHE_ASSIGN_OR_RETURN(Forest forest, ForestReader(call, "target").run());
  LATHE_ASSIGN_OR_RETURN(forest.aggregate, aggregate_of(call));
  forest.targets = call.int_of("n_targets", 1);
  LATHE_ASSIGN_OR_RETURN(Tensor scores, scores_of(call, forest, x));
  LATHE_ASSIGN_OR_RETURN(scores, base_values(call, scores));
  return Values{call.builder().cast(transformed(scores, transform), DType::F32)};
}

namespace {

constexpr std::string_view kIntegerClasses = "classlabels_int64s",
                           kTextClasses = "classlabels_strings";

// One or two classes, and all leaves vote for the same: ONNX does not specify the other one, so
// this follows ONNX Runtime.
Result<Values> single_score(Call& call, Forest forest, Tensor x, size_t classes,
                            PostTransform transform) {
  const int64_t target = forest.votes[0].target;
  if (target < 0 || target > (classes == 1 ? 0 : 1)) {
    return call.reject(concat("a leaf names class ", target, " of ", classes));
  }
  const bool is_first = target == 0;
  const bool is_positive =
      std::ranges::all_of(forest.votes, [](const Forest::Vote& vote) { return vote.weight >= 0; });
  const std::vector<double> base = numbers_of(call, "base_values");
  if (base.size() > 2) return call.reject(concat("has ", base.size(), " base values for 2 scores"));
  for (Forest::Vote& vote : forest.votes) vote.target = 0;
  LATHE_ASSIGN_OR_RETURN(Tensor score, scores_of(call, forest, x));
  // A single base value is that of the first class.
  const size_t at = is_first ? 0 : 1;
  if (at < base.size()) score = score + static_cast<float>(base[at]);
  score = call.builder().cast(score, DType::F32);
  const float limit = is_positive && classes != 1 ? 0.5f : 0.0f;
  const Tensor is_second = call.builder().reshape(score > zero(score) + limit, {x.shape()[0]});
  const Tensor label_index = call.builder().cast(is_second, DType::I32);
  if (classes == 1 && call.strings_of(kTextClasses).empty()) {
    return Values{call.builder().cast(label_index, DType::I64), transformed(score, transform)};
  }
  LATHE_ASSIGN_OR_RETURN(Value label, labels(call, label_index, kIntegerClasses, kTextClasses));
  if (classes == 1) return Values{std::move(label), transformed(score, transform)};
  if (is_first && base.size() < 2) {
    return Values{std::move(label), binary_scores(score, is_positive, transform)};
  }
  const Tensor both = is_first ? ops::concatenate({score, zero(score)}, 1)
                               : ops::concatenate({zero(score), score}, 1);
  return Values{std::move(label), transformed(both, transform)};
}

}  // namespace

Result<Values> tree_ensemble_classifier(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const Tensor x, features(call));
  LATHE_ASSIGN_OR_RETURN(const PostTransform transform, post_transform_of(call));
  LATHE_ASSIGN_OR_RETURN(Forest forest, ForestReader(call, "class").run());
  const size_t classes = count_labels(call, kIntegerClasses, kTextClasses);
  const bool is_single = std::ranges::all_of(forest.votes, [&](const Forest::Vote& vote) {
    return vote.target == forest.votes[0].target;
  });
  if (is_single && classes <= 2 && !forest.votes.empty()) {
    return single_score(call, std::move(forest), x, classes, transform);
  }
  forest.targets = static_cast<int64_t>(classes);
  LATHE_ASSIGN_OR_RETURN(Tensor scores, scores_of(call, forest, x));
  LATHE_ASSIGN_OR_RETURN(scores, base_values(call, scores));
  scores = call.builder().cast(scores, DType::F32);
  LATHE_ASSIGN_OR_RETURN(Value label,
                         labels(call, ops::argmax(scores, 1), kIntegerClasses, kTextClasses));
  return Values{std::move(label), transformed(scores, transform)};
}

namespace {

// The attributes of TreeEnsemble: leaves have separate lists, and follow the inner nodes here.
// A test for several values is one for each.
Result<Forest> read_forest(const Call& call) {
  const auto features_of = call.ints_of("nodes_featureids");
  const auto then = call.ints_of("nodes_truenodeids"),
             otherwise = call.ints_of("nodes_falsenodeids");
  const auto then_leaf = call.ints_of("nodes_trueleafs"),
             else_leaf = call.ints_of("nodes_falseleafs");
  const auto missing = call.ints_of("nodes_missing_value_tracks_true");
  const auto modes = numbers_of(call, "nodes_modes"), splits = numbers_of(call, "nodes_splits");
  const auto members = numbers_of(call, "membership_values");
  const auto targets = call.ints_of("leaf_targetids");
  const auto weights = numbers_of(call, "leaf_weights");
  const size_t count = features_of.size(), leaves = targets.size();
  if (count == 0 || then.size() != count || otherwise.size() != count || modes.size() != count ||
      then_leaf.size() != count || else_leaf.size() != count || splits.size() != count ||
      (!missing.empty() && missing.size() != count) || weights.size() != leaves) {
    return call.reject("its lists nodes_… or leaf_… have not one length");
  }
  Forest forest;
  const auto node_index = [&](int64_t is_leaf, int64_t id) -> Result<size_t> {
    const size_t limit = is_leaf != 0 ? leaves : count;
    if (id >= 0 && static_cast<size_t>(id) < limit) {
      return static_cast<size_t>(id) + (is_leaf != 0 ? count : 0);
    }
    return call.reject(concat("there is no ", is_leaf != 0 ? "leaf " : "node ", id));
  };
  forest.nodes.resize(count + leaves);
  for (size_t k = 0; k < leaves; ++k) {
    forest.nodes[count + k] = {.is_leaf = true, .then = count + k, .otherwise = count + k};
    forest.votes.push_back({count + k, targets[k], weights[k]});
  }
  size_t member = 0;
  for (size_t k = 0; k < count; ++k) {
    if (!(modes[k] >= 0 && modes[k] <= 6)) return call.reject(concat("knows no mode ", modes[k]));
    LATHE_ASSIGN_OR_RETURN(const size_t first, node_index(then_leaf[k], then[k]));
    LATHE_ASSIGN_OR_RETURN(const size_t second, node_index(else_leaf[k], otherwise[k]));
    Forest::Node node{.mode = static_cast<Mode>(modes[k]),
                      .feature = static_cast<int32_t>(features_of[k]),
                      .value = splits[k],
                      .missing_is_true = !missing.empty() && missing[k] != 0,
                      .then = first,
                      .otherwise = second};
    if (node.mode == Mode::Member) {
      node.mode = Mode::Equal;
      node.value = std::numeric_limits<double>::quiet_NaN();
      for (bool is_first = true; member < members.size() && !std::isnan(members[member]);
           ++member) {
        if (!is_first) {
          forest.nodes.push_back(node);
          node.otherwise = forest.nodes.size() - 1;
        }
        node.value = members[member];
        is_first = false;
      }
      ++member;
    }
    forest.nodes[k] = node;
  }
  for (const int64_t root : call.ints_of("tree_roots")) {
    LATHE_ASSIGN_OR_RETURN(const size_t at, node_index(0, root));
    forest.roots.push_back(at);
  }
  return forest;
}

}  // namespace

Result<Values> tree_ensemble(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const Tensor x, features(call));
  LATHE_ASSIGN_OR_RETURN(const PostTransform transform, post_transform_of(call));
  LATHE_ASSIGN_OR_RETURN(Forest forest, read_forest(call));
  LATHE_ASSIGN_OR_RETURN(forest.aggregate, aggregate_of(call));
  forest.targets = call.int_of("n_targets", 1);
  LATHE_ASSIGN_OR_RETURN(const Tensor scores, scores_of(call, forest, x));
  return Values{call.builder().convert(transformed(scores, transform), dtype_of(call.type(0)))};
}

}  // namespace lathe::onnx::rows
