// One function per node kind, each a plain loop over elements.
#include "lathe/graph/evaluate.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <numeric>

#include "lathe/base/check.h"
#include "lathe/base/insert.h"
#include "lathe/base/sort.h"
#include "lathe/base/table.h"
#include "lathe/base/text.h"
#include "lathe/graph/elements.h"
#include "lathe/graph/infer.h"

namespace lathe::graph {

namespace {

using Operands = std::span<const Array* const>;

// Position of map(index) in a row-major tensor, or -1 where it is outside.
int64_t position(const AffineMap& map, const Shape& shape, const std::vector<int64_t>& index) {
  int64_t at = 0;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const int64_t i = map.axes[axis].at(index);
    if (i < 0 || i >= shape[axis]) return -1;
    at = at * shape[axis] + i;
  }
  return at;
}

// The type in which the evaluator stores values of this type.
DType storage_type(DType dtype) { return scalar::is_half(dtype) ? DType::F32 : dtype; }

void cast(const Array& x, Array& out) {
  for (int64_t i = 0; i < element_count(out.shape); ++i) {
    store(out.data, i, scalar::cast(x[i], out.dtype));
  }
}

void constant(const Node& node, Array& out) {
  if (!is_splat(node)) {
    cast({node.dtype, node.shape, {node.data.begin(), node.data.end()}}, out);
    return;
  }
  const scalar::Number value = scalar::cast(splat_value(node), out.dtype);
  for (int64_t i = 0; i < element_count(out.shape); ++i) store(out.data, i, value);
}

void iota(const Node& node, Array& out) {
  int64_t i = 0;
  for (Odometer at(out.shape); at.inside(); at.next()) {
    store(out.data, i++, scalar::Number::of(static_cast<int32_t>(at.index()[node.axes[0]])));
  }
}

void map(const Node& node, Operands operands, Array& out) {
  scalar::Number numbers[scalar::kMaxArity];
  for (int64_t i = 0; i < element_count(out.shape); ++i) {
    for (size_t k = 0; k < operands.size(); ++k) numbers[k] = (*operands[k])[i];
    store(out.data, i, scalar::evaluate(node.op, numbers));
  }
}

void cast(const Node& node, const Array& x, Array& out) {
  if (node.loose || !scalar::is_half(node.dtype)) return cast(x, out);
  cast(stored(x, node.dtype), out);
}

// A sum of numbers of one type: of floats in double, of integers modulo 2^64.
class Sum {
 public:
  void add(const scalar::Number& x) {
    floats_ += x.as_double();
    integers_ += static_cast<uint64_t>(x.i);
  }
  scalar::Number as(DType dtype) const {
    return scalar::is_float(dtype)
               ? scalar::Number::from(dtype, floats_)
               : scalar::Number::integer(dtype, static_cast<int64_t>(integers_));
  }

 private:
  double floats_ = 0;
  uint64_t integers_ = 0;
};

void reduce(const Node& node, const Array& x, Array& out) {
  const int64_t count = element_count(out.shape);
  const DType dtype = scalar::computed(x.dtype);
  const scalar::Number identity = scalar::cast(scalar::fold_identity(node.op, node.dtype), dtype);
  std::vector<scalar::Number> folds(count, identity);
  std::vector<Sum> sums(count);
  const bool sum = node.op == Op::Add;
  int64_t i = 0;
  for (Odometer at(x.shape); at.inside(); at.next(), ++i) {
    int64_t target = 0;
    size_t next = 0;
    for (size_t axis = 0; axis < x.shape.size(); ++axis) {
      if (next < node.axes.size() && node.axes[next] == static_cast<int>(axis)) {
        ++next;
      } else {
        target = target * x.shape[axis] + at.index()[axis];
      }
    }
    const scalar::Number pair[] = {folds[target], scalar::cast(x[i], dtype)};
    if (sum) {
      sums[target].add(pair[1]);
    } else {
      folds[target] = scalar::evaluate(node.op, pair);
    }
  }
  for (int64_t k = 0; k < count; ++k) {
    store(out.data, k, sum ? sums[k].as(out.dtype) : scalar::cast(folds[k], out.dtype));
  }
}

// How far map(i) moves in a row-major tensor where an element of i grows by one.
int64_t step_of(const AffineMap& map, const Shape& shape, size_t element) {
  int64_t step = 0;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    step = step * shape[axis] + map.axes[axis].coefficients[element];
  }
  return step;
}

// The bits of floats as doubles, or integers modulo 2^64.
std::vector<uint64_t> elements(const Array& x, bool is_float) {
  std::vector<uint64_t> each(element_count(x.shape));
  int64_t i = 0;
  for (uint64_t& element : each) {
    const scalar::Number number = x[i++];
    element =
        is_float ? std::bit_cast<uint64_t>(number.as_double()) : static_cast<uint64_t>(number.i);
  }
  return each;
}

uint64_t with_product(bool is_float, uint64_t sum, uint64_t x, uint64_t y) {
  if (!is_float) return sum + x * y;
  const double product = std::bit_cast<double>(x) * std::bit_cast<double>(y);
  return std::bit_cast<uint64_t>(std::bit_cast<double>(sum) + product);
}

// A loop of a contraction, and how far its tensors move in each round.
struct Run {
  size_t axis = 0;
  int64_t count = 1, out = 0, left = 0, right = 0;

  int64_t distance() const { return std::abs(out) + std::abs(left) + std::abs(right); }
};

// The loop over adjacent elements, which makes it possible to train a network on the evaluator;
// one of no more than a round where an index can be outside.
Run closest_run(const Contraction& c, const Shape& left, const Shape& right, const Shape& out) {
  Run best;
  if (!always_inside(c.out, c.extents, out) || !always_inside(c.lhs, c.extents, left) ||
      !always_inside(c.rhs, c.extents, right)) {
    return best;
  }
  for (size_t axis = 0; axis < c.extents.size(); ++axis) {
    const Run run{axis, c.extents[axis], step_of(c.out, out, axis), step_of(c.lhs, left, axis),
                  step_of(c.rhs, right, axis)};
    if (run.count > 1 && (best.count == 1 || run.distance() <= best.distance())) best = run;
  }
  return best;
}

void contract(const Node& node, const Array& lhs, const Array& rhs, Array& out) {
  const Contraction& c = node.contraction;
  const bool is_float = scalar::is_float(out.dtype);
  const std::vector<uint64_t> lefts = elements(lhs, is_float), rights = elements(rhs, is_float);
  std::vector<uint64_t> sums(element_count(out.shape));
  const Run run = closest_run(c, lhs.shape, rhs.shape, out.shape);
  std::vector<int64_t> outer = c.extents;
  if (run.count > 1) outer[run.axis] = 1;
  for (Odometer at(outer); at.inside(); at.next()) {
    const int64_t o = position(c.out, out.shape, at.index());
    const int64_t l = position(c.lhs, lhs.shape, at.index());
    const int64_t r = position(c.rhs, rhs.shape, at.index());
    if (o < 0 || l < 0 || r < 0) continue;
    uint64_t sum = sums[o];
    for (int64_t i = 0; i < run.count; ++i) {
      if (run.out != 0) sum = sums[o + i * run.out];
      sum = with_product(is_float, sum, lefts[l + i * run.left], rights[r + i * run.right]);
      if (run.out != 0) sums[o + i * run.out] = sum;
    }
    if (run.out == 0) sums[o] = sum;
  }
  for (size_t i = 0; i < sums.size(); ++i) {
    store(out.data, static_cast<int64_t>(i),
          is_float ? scalar::Number::from(out.dtype, std::bit_cast<double>(sums[i]))
                   : scalar::Number::integer(out.dtype, static_cast<int64_t>(sums[i])));
  }
}

void reindex(const Node& node, const Array& x, Array& out) {
  int64_t i = 0;
  for (Odometer at(out.shape); at.inside(); at.next(), ++i) {
    const int64_t from = position(node.map, x.shape, at.index());
    if (from >= 0) store(out.data, i, x[from]);
  }
}

void join(const Node& node, Operands pieces, Array& out) {
  for (size_t k = 0; k < pieces.size(); ++k) {
    int64_t i = 0;
    for (Odometer at(pieces[k]->shape); at.inside(); at.next(), ++i) {
      store(out.data, position(node.maps[k], out.shape, at.index()), (*pieces[k])[i]);
    }
  }
}

// Row-major position of the index with `along` as its element `axis`, moved inside.
int64_t indexed_position(const Shape& shape, std::vector<int64_t> index, int axis, int64_t along) {
  index[axis] = std::clamp<int64_t>(along, 0, shape[axis] - 1);
  int64_t at = 0;
  for (size_t k = 0; k < shape.size(); ++k) at = at * shape[k] + index[k];
  return at;
}

// Large u64 are not negative.
int64_t along_of(const scalar::Number& index) {
  const bool beyond = index.dtype == DType::U64 && index.i < 0;
  return beyond ? std::numeric_limits<int64_t>::max() : index.i;
}

void gather(const Node& node, const Array& x, const Array& index, Array& out) {
  int64_t i = 0;
  for (Odometer at(out.shape); at.inside(); at.next(), ++i) {
    const int64_t along = along_of(index[i]);
    store(out.data, i, x[indexed_position(x.shape, at.index(), node.axes[0], along)]);
  }
}

void scatter(const Node& node, const Array& x, const Array& index, Array& out) {
  const DType dtype = scalar::computed(x.dtype);
  Array sums = Array::zeros(dtype, out.shape);
  int64_t i = 0;
  for (Odometer at(x.shape); at.inside(); at.next(), ++i) {
    const int64_t to = indexed_position(out.shape, at.index(), node.axes[0], along_of(index[i]));
    const scalar::Number pair[] = {sums[to], scalar::cast(x[i], dtype)};
    store(sums.data, to, scalar::evaluate(node.op, pair));
  }
  cast(sums, out);
}

void scan(const Node& node, const Array& x, Array& out) {
  const size_t axis = node.axes[0];
  std::vector<int64_t> outer = x.shape;
  const int64_t length = std::exchange(outer[axis], 1);
  for (Odometer at(outer); at.inside(); at.next()) {
    const bool sum = node.op == Op::Add;
    const DType dtype = scalar::computed(x.dtype);
    scalar::Number total = scalar::cast(scalar::fold_identity(node.op, x.dtype), dtype);
    Sum precise;
    for (int64_t i = 0; i < length; ++i) {
      const int64_t along = node.reverse ? length - 1 - i : i;
      const int64_t offset = indexed_position(x.shape, at.index(), node.axes[0], along);
      if (node.exclusive) store(out.data, offset, scalar::cast(total, x.dtype));
      const scalar::Number pair[] = {total, scalar::cast(x[offset], dtype)};
      precise.add(pair[1]);
      total = sum ? precise.as(dtype) : scalar::evaluate(node.op, pair);
      if (!node.exclusive) store(out.data, offset, scalar::cast(total, x.dtype));
    }
  }
}

bool comes_before(const scalar::Number& a, const scalar::Number& b, bool descending) {
  const bool is_float = scalar::is_float(a.dtype);
  const bool a_is_nan = is_float && std::isnan(a.as_double());
  const bool b_is_nan = is_float && std::isnan(b.as_double());
  if (a_is_nan || b_is_nan) return !a_is_nan;
  const scalar::Number pair[] = {descending ? b : a, descending ? a : b};
  return scalar::evaluate(Op::Lt, pair).i != 0;
}

void sort(const Node& node, const Array& x, Array& out) {
  const auto axis = static_cast<size_t>(node.axes[0]);
  std::vector<int64_t> outer = x.shape;
  outer[axis] = 1;
  for (Odometer at(outer); at.inside(); at.next()) {
    const auto element = [&](int64_t along) {
      return x[indexed_position(x.shape, at.index(), node.axes[0], along)];
    };
    const std::vector<int> order = sorted_indices(
        static_cast<size_t>(x.shape[axis]),
        [&](int a, int b) { return comes_before(element(a), element(b), node.reverse); });
    for (int64_t i = 0; i < out.shape[axis]; ++i) {
      store(out.data, indexed_position(out.shape, at.index(), node.axes[0], i),
            scalar::Number::of(order[i]));
    }
  }
}

Status check_array(const Node& node, const Array& array) {
  const size_t bytes = Array::zeros(node.dtype, node.shape).data.size();
  const bool is_of_type = array.dtype == node.dtype && array.shape == node.shape;
  if (is_of_type && array.data.size() == bytes) return {};
  return fail(
      concat(text(node.kind), " \"", node.name, "\" is ", type_string(node.dtype, node.shape),
             ", got ", type_string(array.dtype, array.shape),
             is_of_type ? concat(" with ", array.data.size(), " bytes instead of ", bytes) : ""));
}

Result<Array> argument_of(const Node& node, const std::map<std::string, Array>& inputs,
                          std::map<std::string, Array>& states) {
  if (node.kind == Kind::State) {
    const auto [at, added] = states.try_emplace(node.name, Array::zeros(node.dtype, node.shape));
    LATHE_TRY(check_array(node, at->second));
    return at->second;
  }
  const auto found = inputs.find(node.name);
  if (found == inputs.end()) return fail(concat("input \"", node.name, "\" is missing"));
  LATHE_TRY(check_array(node, found->second));
  return found->second;
}

}  // namespace

scalar::Number Array::operator[](int64_t index) const { return load(dtype, data, index); }

Array stored(Array array, DType dtype) {
  if (array.dtype == dtype) return array;
  Array result = Array::zeros(dtype, array.shape);
  cast(array, result);
  return result;
}

Array Array::zeros(DType dtype, Shape shape) {
  const auto bytes = static_cast<size_t>(element_count(shape) * scalar::size_of(dtype));
  return {dtype, std::move(shape), std::vector<std::byte>(bytes)};
}

Array Array::of(Shape shape, std::span<const float> values) {
  const auto bytes = std::as_bytes(values);
  return {DType::F32, std::move(shape), {bytes.begin(), bytes.end()}};
}

Array Array::of(Shape shape, std::span<const int32_t> values) {
  const auto bytes = std::as_bytes(values);
  return {DType::I32, std::move(shape), {bytes.begin(), bytes.end()}};
}

Array evaluate_node(const Node& node, Operands operands) {
  const auto is_float16 = [](const Array* each) { return scalar::is_half(each->dtype); };
  if (std::ranges::any_of(operands, is_float16)) {
    std::vector<Array> arrays;
    for (const Array* each : operands) arrays.push_back(stored(*each, storage_type(each->dtype)));
    std::vector<const Array*> wide;
    for (const Array& each : arrays) wide.push_back(&each);
    return evaluate_node(node, wide);
  }
  Array out = Array::zeros(storage_type(node.dtype), node.shape);
  switch (node.kind) {
    case Kind::Input:
    case Kind::State:
    case Kind::Loop:
    case Kind::Item:
      LATHE_CHECK(!"evaluate_node: this kind has no value");
      break;
    case Kind::Constant:
      constant(node, out);
      break;
    case Kind::Iota:
      iota(node, out);
      break;
    case Kind::Map:
      map(node, operands, out);
      break;
    case Kind::Cast:
      cast(node, *operands[0], out);
      break;
    case Kind::Reduce:
      reduce(node, *operands[0], out);
      break;
    case Kind::Contract:
      contract(node, *operands[0], *operands[1], out);
      break;
    case Kind::Reshape:
      out.data = operands[0]->data;
      break;
    case Kind::Reindex:
      reindex(node, *operands[0], out);
      break;
    case Kind::Join:
      join(node, operands, out);
      break;
    case Kind::Gather:
      gather(node, *operands[0], *operands[1], out);
      break;
    case Kind::Scatter:
      scatter(node, *operands[0], *operands[1], out);
      break;
    case Kind::Scan:
      scan(node, *operands[0], out);
      break;
    case Kind::Sort:
      sort(node, *operands[0], out);
      break;
  }
  return out;
}

namespace {

using Source = std::function<Result<Array>(const Node& node)>;

Result<Table<Value, Array>> values_of(const Graph& graph, const Source& source);

// Results of a loop, by number.
std::vector<Array> run_loop(const Node& node, Operands operands) {
  const Graph& body = *node.body;
  const std::vector<Value> inputs = inputs_of(body);
  const Repetition& repetition = node.repetition;
  std::vector<Array> results;
  for (size_t k = 0; k < body.outputs.size(); ++k) {
    const Node& value = body[body.outputs[k].value];
    Shape shape = value.shape;
    insert_at(shape, 0, node.repetition.steps);
    results.push_back(repetition.is_carried(k)
                          ? *operands[k]
                          : Array::zeros(storage_type(value.dtype), std::move(shape)));
  }
  for (int64_t step = 0; step < repetition.steps; ++step) {
    const int64_t at = node.reverse ? repetition.steps - 1 - step : step;
    std::map<std::string, Array> arguments;
    for (size_t k = 0; k < inputs.size(); ++k) {
      const Node& input = body[inputs[k]];
      Array& array = arguments[input.name] = repetition.is_carried(k) ? results[k] : *operands[k];
      if (!repetition.is_sliced(k)) continue;
      Array slice = Array::zeros(storage_type(input.dtype), input.shape);
      const auto bytes = static_cast<std::ptrdiff_t>(slice.data.size());
      std::copy_n(array.data.begin() + at * bytes, bytes, slice.data.begin());
      array = std::move(slice);
    }
    if (repetition.has_condition()) {
      const auto condition = static_cast<size_t>(repetition.condition);
      if (arguments.at(body[inputs[condition]].name).data[0] == std::byte{0}) {
        if (repetition.is_sliced(condition)) continue;
        break;
      }
    }
    const auto values = values_of(
        body, [&](const Node& input) -> Result<Array> { return arguments.at(input.name); });
    LATHE_CHECK(values.has_value());
    for (size_t k = 0; k < results.size(); ++k) {
      const Array& value = (*values)[body.outputs[k].value];
      if (repetition.is_carried(k)) {
        results[k] = value;
      } else {
        const auto bytes = static_cast<std::ptrdiff_t>(value.data.size());
        std::ranges::copy(value.data, results[k].data.begin() + at * bytes);
      }
    }
  }
  return results;
}

// The value of every node, those of inputs and states from `source`.
Result<Table<Value, Array>> values_of(const Graph& graph, const Source& source) {
  Table<Value, Array> values;
  values.reserve(graph.nodes.size());
  std::map<int32_t, std::vector<Array>> loops;
  for (const Node& node : graph.nodes) {
    if (node.kind == Kind::Input || node.kind == Kind::State) {
      LATHE_ASSIGN_OR_RETURN(Array array, source(node));
      values.push_back(stored(std::move(array), storage_type(node.dtype)));
      continue;
    }
    std::vector<const Array*> operands;
    for (Value operand : node.operands) operands.push_back(&values[operand]);
    if (node.kind == Kind::Item) {
      values.push_back(loops.at(node.operands[0].id)[node.item]);
    } else if (node.kind == Kind::Loop) {
      loops[static_cast<int32_t>(values.size())] = run_loop(node, operands);
      const auto steps = static_cast<int32_t>(node.repetition.steps);
      values.push_back(Array::of(Shape{}, std::span(&steps, 1)));
    } else {
      values.push_back(evaluate_node(node, operands));
    }
  }
  return values;
}

}  // namespace

Result<Outputs> evaluate(const Graph& graph, const std::map<std::string, Array>& inputs,
                         std::map<std::string, Array>& states) {
  LATHE_ASSIGN_OR_RETURN(const auto values, values_of(graph, [&](const Node& node) {
                           return argument_of(node, inputs, states);
                         }));
  const auto result = [&](Value value) { return stored(values[value], graph[value].dtype); };
  Outputs outputs;
  for (const Output& output : graph.outputs) outputs[output.name] = result(output.value);
  for (const Update& update : graph.updates) {
    states[graph[update.state].name] = result(update.value);
  }
  return outputs;
}

}  // namespace lathe::graph
