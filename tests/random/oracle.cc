#include "oracle.h"

#include <algorithm>
#include <span>

#include "lathe/base/check.h"
#include "lathe/graph/elements.h"
#include "oracle_moves.h"

namespace lathe::random_tests {

namespace {

using graph::Graph;
using graph::Kind;
using graph::Node;
using graph::Odometer;

class Evaluation {
 public:
  explicit Evaluation(const Precision& precision) : precision_(precision) {}

  Outcome run(const Graph& graph, const Named& inputs, const Named& states);

 private:
  Values node(const Node& node, const Operands& in);
  std::vector<Values> loop(const Node& node, const Operands& in);

  void constant(const Node& node, Values& out);
  void reduce(const Node& node, const Values& x, Values& out);
  void contract(const Node& node, const Values& lhs, const Values& rhs, Values& out);
  void scatter(const Node& node, const Values& x, const Values& index, Values& out);
  void scan(const Node& node, const Values& x, Values& out);
  Bounded fold(Op op, Bounded x, Bounded y, DType dtype) {
    const Bounded pair[] = {x, y};
    return apply(op, pair, dtype, precision_);
  }
  Bounded identity(const Node& node) {
    return {scalar::fold_identity(node.op, node.dtype).as_double(), 0};
  }

  const Precision& precision_;
};

void Evaluation::constant(const Node& node, Values& out) {
  const bool splat = is_splat(node);
  for (size_t i = 0; i < out.elements.size(); ++i) {
    const double value =
        graph::load(node.dtype, node.data, splat ? 0 : static_cast<int64_t>(i)).as_double();
    out.elements[i] = std::isnan(value) ? unknown() : Bounded{value, 0};
  }
}

void Evaluation::reduce(const Node& node, const Values& x, Values& out) {
  const bool sums = node.op == Op::Add && x.dtype == DType::F32;
  std::vector<Sum> totals(out.elements.size());
  std::ranges::fill(out.elements, identity(node));
  size_t i = 0;
  for (Odometer at(x.shape); at.inside(); at.next(), ++i) {
    int64_t target = 0;
    for (size_t axis = 0; axis < x.shape.size(); ++axis) {
      if (std::ranges::count(node.axes, static_cast<int>(axis)) > 0) continue;
      target = target * x.shape[axis] + at.index()[axis];
    }
    const auto t = static_cast<size_t>(target);
    if (sums) {
      totals[t].add(x.elements[i]);
    } else {
      out.elements[t] = fold(node.op, out.elements[t], x.elements[i], x.dtype);
    }
  }
  for (size_t t = 0; sums && t < totals.size(); ++t) {
    out.elements[t] = totals[t].total(precision_);
  }
}

double largest_magnitude(const Values& x) {
  double result = 0;
  for (const Bounded& each : x.elements) {
    if (each.is_finite()) result = std::max(result, std::fabs(each.value));
  }
  return result;
}

void Evaluation::contract(const Node& node, const Values& lhs, const Values& rhs, Values& out) {
  const graph::Contraction& c = node.contraction;
  std::vector<Sum> totals(out.elements.size());
  for (Odometer at(c.extents); at.inside(); at.next()) {
    const auto o = linear_index(c.out, out.shape, at.index());
    const auto l = linear_index(c.lhs, lhs.shape, at.index());
    const auto r = linear_index(c.rhs, rhs.shape, at.index());
    if (!o || !l || !r) continue;
    const Bounded x = lhs.elements[*l], y = rhs.elements[*r];
    const Bounded zero{0, 0};
    // Nothing is added where a factor is exactly zero and the other one is finite.
    if ((x == zero && y.is_finite()) || (y == zero && x.is_finite())) {
      totals[*o].add(zero);
      continue;
    }
    totals[*o].add({x.value * y.value, std::fabs(x.value) * y.error + std::fabs(y.value) * x.error +
                                           x.error * y.error});
  }
  // Transformed tiles mix the sums of neighbors.
  const auto threes = std::ranges::count(c.extents, 3);
  double mixed = 0;
  if (precision_.winograd && threes >= 2) {
    int64_t steps = 1;
    for (const int64_t extent : c.extents) steps *= extent;
    const double terms =
        static_cast<double>(steps) / std::max<double>(1, static_cast<double>(totals.size()));
    mixed = 64 * precision_.unit * largest_magnitude(lhs) * largest_magnitude(rhs) *
            std::max(9.0, terms);
  }
  for (size_t i = 0; i < totals.size(); ++i) {
    out.elements[i] = totals[i].total(precision_);
    out.elements[i].error += mixed;
  }
}

void Evaluation::scatter(const Node& node, const Values& x, const Values& index, Values& out) {
  const bool sums = x.dtype == DType::F32;
  std::vector<Sum> totals(out.elements.size());
  bool lost = false;
  size_t i = 0;
  for (Odometer at(x.shape); at.inside(); at.next(), ++i) {
    const Bounded where = index.elements[i];
    lost = lost || !where.is_finite();
    const size_t to =
        linear_index_along(out.shape, at.index(), node.axes[0], static_cast<int64_t>(where.value));
    if (sums) {
      totals[to].add(x.elements[i]);
    } else {
      out.elements[to] = fold(node.op, out.elements[to], x.elements[i], x.dtype);
    }
  }
  for (size_t t = 0; t < totals.size(); ++t) {
    if (sums) out.elements[t] = totals[t].total(precision_);
    if (lost) out.elements[t] = unknown();
  }
}

void Evaluation::scan(const Node& node, const Values& x, Values& out) {
  const auto axis = static_cast<size_t>(node.axes[0]);
  Index outer = x.shape;
  const int64_t length = std::exchange(outer[axis], 1);
  const bool sums = node.op == Op::Add && x.dtype == DType::F32;
  for (Odometer at(outer); at.inside(); at.next()) {
    Bounded folded = identity(node);
    Sum sum;
    for (int64_t i = 0; i < length; ++i) {
      const int64_t along = node.reverse ? length - 1 - i : i;
      const size_t here = linear_index_along(x.shape, at.index(), node.axes[0], along);
      if (node.exclusive) out.elements[here] = folded;
      sum.add(x.elements[here]);
      folded = sums ? sum.total(precision_) : fold(node.op, folded, x.elements[here], x.dtype);
      if (!node.exclusive) out.elements[here] = folded;
    }
  }
}

Values Evaluation::node(const Node& node, const Operands& in) {
  Values out = Values::zeros(node.dtype, node.shape);
  switch (node.kind) {
    case Kind::Input:
    case Kind::State:
    case Kind::Loop:
    case Kind::Item:
      LATHE_CHECK(!"node: this kind has no value");
      break;
    case Kind::Constant:
      constant(node, out);
      break;
    case Kind::Iota: {
      size_t i = 0;
      for (Odometer at(out.shape); at.inside(); at.next()) {
        const int64_t along = at.index()[static_cast<size_t>(node.axes[0])];
        out.elements[i++] = {static_cast<double>(along), 0};
      }
      break;
    }
    case Kind::Map:
      for (size_t i = 0; i < out.elements.size(); ++i) {
        Bounded each[scalar::kMaxArity];
        for (size_t k = 0; k < in.size(); ++k) each[k] = in[k]->elements[i];
        out.elements[i] = apply(node.op, std::span(each, in.size()), in.back()->dtype, precision_);
      }
      break;
    case Kind::Cast:
      for (size_t i = 0; i < out.elements.size(); ++i) {
        out.elements[i] = cast(in[0]->elements[i], in[0]->dtype, node.dtype, precision_);
      }
      break;
    case Kind::Reduce:
      reduce(node, *in[0], out);
      break;
    case Kind::Contract:
      contract(node, *in[0], *in[1], out);
      break;
    case Kind::Reshape:
      out.elements = in[0]->elements;
      break;
    case Kind::Reindex:
      reindex(node, *in[0], out);
      break;
    case Kind::Join:
      join(node, in, out);
      break;
    case Kind::Gather:
      gather(node, *in[0], *in[1], out);
      break;
    case Kind::Scatter:
      scatter(node, *in[0], *in[1], out);
      break;
    case Kind::Scan:
      scan(node, *in[0], out);
      break;
    case Kind::Sort:
      sort(node, *in[0], out);
      break;
  }
  return out;
}

std::vector<Values> Evaluation::loop(const Node& node, const Operands& in) {
  const Graph& body = *node.body;
  const std::vector<graph::Value> inputs = inputs_of(body);
  const auto carried_count = static_cast<size_t>(node.repetition.carried);
  const size_t sliced_end = carried_count + static_cast<size_t>(node.repetition.sliced);
  const auto steps = static_cast<size_t>(node.repetition.steps);
  std::vector<Values> results;
  for (size_t k = 0; k < body.outputs.size(); ++k) {
    const Node& value = body[body.outputs[k].value];
    Shape shape = value.shape;
    shape.insert(shape.begin(), node.repetition.steps);
    results.push_back(k < carried_count ? *in[k] : Values::zeros(value.dtype, std::move(shape)));
  }
  for (size_t step = 0; step < steps; ++step) {
    const size_t at = node.reverse ? steps - 1 - step : step;
    Named arguments;
    for (size_t k = 0; k < inputs.size(); ++k) {
      const Node& input = body[inputs[k]];
      Values& values = arguments[input.name] = Values::zeros(input.dtype, input.shape);
      const size_t count = values.elements.size();
      const Values& from = k < carried_count ? results[k] : *in[k];
      const size_t begin = k >= carried_count && k < sliced_end ? at * count : 0;
      for (size_t i = 0; i < count; ++i) values.elements[i] = from.elements[begin + i];
    }
    if (node.repetition.has_condition()) {
      const auto condition = static_cast<size_t>(node.repetition.condition);
      if (arguments.at(body[inputs[condition]].name).elements[0].value == 0) {
        if (node.repetition.is_sliced(condition)) continue;
        break;
      }
    }
    const Outcome result = run(body, arguments, {});
    for (size_t k = 0; k < results.size(); ++k) {
      const Values& value = result.outputs.at(body.outputs[k].name);
      const size_t begin = k < carried_count ? 0 : at * value.elements.size();
      std::ranges::copy(value.elements,
                        results[k].elements.begin() + static_cast<ptrdiff_t>(begin));
    }
  }
  return results;
}

Outcome Evaluation::run(const Graph& graph, const Named& inputs, const Named& states) {
  std::vector<Values> values;
  values.reserve(graph.nodes.size());
  std::map<size_t, std::vector<Values>> loops;
  for (const Node& each : graph.nodes) {
    Operands in;
    for (const graph::Value operand : each.operands) {
      in.push_back(&values[static_cast<size_t>(operand.id)]);
    }
    if (each.kind == Kind::Input) {
      values.push_back(inputs.at(each.name));
    } else if (each.kind == Kind::State) {
      values.push_back(states.at(each.name));
    } else if (each.kind == Kind::Item) {
      values.push_back(
          loops.at(static_cast<size_t>(each.operands[0].id))[static_cast<size_t>(each.item)]);
    } else if (each.kind == Kind::Loop) {
      loops[values.size()] = loop(each, in);
      values.push_back(Values::zeros(DType::I32, {}));
      values.back().elements[0].value = static_cast<double>(each.repetition.steps);
    } else {
      values.push_back(node(each, in));
    }
  }
  Outcome result{{}, states};
  for (const graph::Output& output : graph.outputs) {
    result.outputs[output.name] = values[static_cast<size_t>(output.value.id)];
  }
  for (const graph::Update& update : graph.updates) {
    result.states[graph[update.state].name] = values[static_cast<size_t>(update.value.id)];
  }
  return result;
}

}  // namespace

Values Values::zeros(DType dtype, Shape shape) {
  const auto count = static_cast<size_t>(graph::element_count(shape));
  return {dtype, std::move(shape), std::vector<Bounded>(count)};
}

std::vector<std::byte> bytes_of(const Values& values) {
  std::vector<std::byte> data(values.elements.size() *
                              static_cast<size_t>(scalar::size_of(values.dtype)));
  for (size_t i = 0; i < values.elements.size(); ++i) {
    graph::store(data, static_cast<int64_t>(i),
                 scalar::Number::from(values.dtype, values.elements[i].value));
  }
  return data;
}

Outcome expected(const graph::Graph& graph, const Named& inputs, const Named& states,
                 const Precision& precision) {
  return Evaluation(precision).run(graph, inputs, states);
}

}  // namespace lathe::random_tests
