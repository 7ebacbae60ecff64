// Branches, loops that data ends, and loops that leave steps out.
#include "cases.h"
#include "lathe/base/text.h"
#include "lathe/ops/control.h"
#include "lathe/ops/reduction/recurrence.h"

namespace lathe::ops_tests {

using graph::Builder;
using graph::DType;
using graph::Shape;
using graph::Tensor;

namespace {

using Arguments = std::span<const Tensor>;
using Tensors = std::vector<Tensor>;

Tensor count(Builder& b, const char* name) { return b.input(name, DType::I32, {}); }

Tensor integer(Builder& b, int32_t value) { return b.full({}, scalar::Number::of(value)); }

Tensor negated(Builder& b, Tensor x) { return b.map(graph::Op::Not, {{x}}); }

void outputs(Builder& b, const char* name, Arguments values) {
  for (size_t k = 0; k < values.size(); ++k) b.output(concat(name, k), values[k]);
}

// Each branch once; one multiplies by a matrix, one computes a logarithm of possibly negative
// values.
template <int kRows, int kColumns>
void branches(Builder& b) {
  const Tensor x = floats(b, "x", {kRows, kColumns}), w = floats(b, "w", {kColumns, kColumns});
  const Tensor p = b.input("p", DType::Bool, {});
  const auto product = [](Builder& inner, Arguments args) -> Tensors {
    const Tensor y = inner.matmul(args[0], args[1]) * 0.3f;
    return {tanh(y), args[0] * 2.0f};
  };
  const auto logarithm = [](Builder&, Arguments args) -> Tensors {
    return {log(absolute(args[0]) + 0.5f), args[0] * args[0]};
  };
  outputs(b, "y", ops::cond(p, {{x, w}}, product, logarithm));
  outputs(b, "z", ops::cond(negated(b, p), {{x, w}}, product, logarithm));
}

// What a branch that does not run would compute is no number, and neither is its derivative.
void guarded(Builder& b) {
  const Tensor x = floats(b, "x", {5});
  const Tensor least = -sum(absolute(x), {0});
  const auto not_selected = [](Builder&, Arguments args) -> Tensors {
    return {log(args[1]) * args[0]};
  };
  const auto selected = [](Builder&, Arguments args) -> Tensors { return {exp(args[0] * 0.5f)}; };
  const Tensor zero = b.scalar(0);
  outputs(b, "y", ops::cond(least > zero, {{x, least}}, not_selected, selected));
  outputs(b, "z", ops::cond(least < zero, {{x, least}}, selected, not_selected));
}

// Constants, arguments passed through, and integer tensors.
void plain_results(Builder& b) {
  const Tensor x = b.input("x", DType::I32, {3}), p = b.input("p", DType::Bool, {});
  const auto one = [](Builder& inner, Arguments args) -> Tensors {
    return {args[0], inner.full({2}, scalar::Number::of(7)), args[1]};
  };
  const auto other = [](Builder& inner, Arguments args) -> Tensors {
    return {inner.full({3}, scalar::Number::of(1)) + args[0],
            inner.full({2}, scalar::Number::of(8)), negated(inner, args[1])};
  };
  outputs(b, "y", ops::cond(p, {{x, p}}, one, other));
  outputs(b, "z", ops::cond(negated(b, p), {{x, p}}, one, other));
}

// A data-dependent number of iterations up to `kMaxSteps`; the body reads a weight.
template <int kMaxSteps, int kUnits>
void data_dependent(Builder& b) {
  const Tensor x = floats(b, "x", {2, kUnits}), w = floats(b, "w", {kUnits, kUnits});
  const Tensor n = count(b, "n");
  const auto goes_on = [](Builder&, Arguments args) -> Tensors { return {args[0] < args[2]}; };
  const auto step = [](Builder& inner, Arguments args) -> Tensors {
    const Tensor y = tanh(inner.matmul(args[1], args[3]) * 0.4f + args[1]);
    return {args[0] + 1.0f, y};
  };
  outputs(b, "y", ops::while_loop(goes_on, step, {{integer(b, 0), x}}, {{n, w}}, kMaxSteps));
}

// Until the numbers are large; without a maximum number of iterations.
void until_large(Builder& b) {
  const Tensor x = floats(b, "x", {7});
  const auto goes_on = [](Builder& inner, Arguments args) -> Tensors {
    return {sum(args[0], {0}) < inner.scalar(100)};
  };
  const auto step = [](Builder&, Arguments args) -> Tensors {
    return {absolute(args[0]) * 1.5f + 0.5f, args[1] + 1.0f};
  };
  outputs(b, "y", ops::while_loop(goes_on, step, {{x, integer(b, 0)}}, {}));
}

// A branch in a loop that data ends, in a loop over slices.
void nested_whiles(Builder& b) {
  const Tensor x = floats(b, "x", {3, 4}), n = b.input("n", DType::I32, {3});
  const Tensor zeros = b.full({4}, scalar::Number::of(0.0f));
  const auto body = [](const ops::ScanStep& outer) -> ops::ScanResult {
    const auto goes_on = [](Builder&, Arguments args) -> Tensors { return {args[0] < args[2]}; };
    const auto step = [](Builder& inner, Arguments args) -> Tensors {
      const Tensor is_first = args[0] == integer(inner, 0);
      const auto add = [](Builder&, Arguments it) -> Tensors { return {it[0] + it[1]}; };
      const auto turn = [](Builder&, Arguments it) -> Tensors { return {sin(it[0] * it[1])}; };
      const Tensors next = ops::cond(is_first, {{args[1], args[3]}}, add, turn);
      return {args[0] + 1.0f, next[0]};
    };
    Builder& b = outer.builder;
    const Tensors results = ops::while_loop(goes_on, step, {{integer(b, 0), outer.carried[0]}},
                                            {{outer.slices[1], outer.slices[0]}}, 3);
    return {{results[1]}, {results[1] * 2.0f, results[0]}};
  };
  const ops::ScanResult result = ops::scan(b, {3}, {{zeros}}, {{x, n}}, {}, body);
  outputs(b, "y", {{result.carried[0], result.stacked[0], result.stacked[1]}});
}

// Slices select the steps that run; the others stack zeros.
template <bool kReverse>
void chosen_steps(Builder& b) {
  const Tensor x = floats(b, "x", {6, 5}), h = floats(b, "h", {5}), w = floats(b, "w", {5, 5});
  const Tensor runs = b.input("runs", DType::Bool, {6});
  Builder inner("body");
  const Tensor before = inner.input("h", DType::F32, {5}),
               slice = inner.input("x", DType::F32, {5});
  inner.input("runs", DType::Bool, {});
  const Tensor weight = inner.input("w", DType::F32, {5, 5});
  const Tensor row = inner.reshape(before, {1, 5});
  const Tensor next = tanh(inner.reshape(inner.matmul(row, weight), {5}) * 0.3f + slice * before);
  inner.output("next", next);
  inner.output("stack", next * slice);
  auto body = std::move(inner).finish();
  if (!body) {
    b.error(body.error().message);
    return;
  }
  const Tensor operands[] = {h, x, runs, w};
  outputs(b, "y", b.loop(operands, {6, 1, 2, 2}, kReverse, std::move(*body)));
}

constexpr Case kControlCases[] = {
    {"cond_1x1", branches<1, 1>},
    {"cond_3x5", branches<3, 5>},
    {"cond_17x33", branches<17, 33>},
    {"cond_guards_what_is_no_number", guarded},
    {"cond_plain_results", plain_results, false},
    {"while_max_3", data_dependent<3, 4>},
    {"while_max_2", data_dependent<2, 7>},
    {"while_max_1", data_dependent<1, 5>},
    {"while_never", data_dependent<0, 3>},
    {"while_until_large", until_large, false},
    {"while_nested", nested_whiles},
    {"loop_of_chosen_steps", chosen_steps<false>},
    {"loop_of_chosen_steps_reversed", chosen_steps<true>},
};

}  // namespace

std::span<const Case> control_cases() { return kControlCases; }

}  // namespace lathe::ops_tests
