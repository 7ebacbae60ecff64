// Loops over steps: values that are loop-carried, sliced, stacked and invariant.
#include "cases.h"
#include "lathe/base/text.h"
#include "lathe/ops/movement/movement.h"
#include "lathe/ops/reduction/recurrence.h"

namespace lathe::ops_tests {

using graph::Builder;
using graph::DType;
using graph::Shape;
using graph::Tensor;
using ops::scan;
using ops::ScanResult;
using ops::ScanStep;

namespace {

Tensor columns(Tensor x, int64_t begin, int64_t count) {
  return ops::slice(x, {0, begin}, Shape{x.shape()[0], count});
}

// The gates of a long short-term memory from one product; both carried values read each other.
template <int kSteps, int kBatch, int kUnits, bool kReverse>
void lstm(Builder& b) {
  const Tensor x = floats(b, "x", {kSteps, kBatch, 4 * kUnits});
  const Tensor u = floats(b, "u", {kUnits, 4 * kUnits});
  const Tensor initial[] = {floats(b, "h", {kBatch, kUnits}), floats(b, "c", {kBatch, kUnits})};
  const ScanResult result =
      scan(b, {kSteps, kReverse}, initial, {{x}}, {{u}}, [](const ScanStep& step) -> ScanResult {
        const Tensor h = step.carried[0], c = step.carried[1];
        const Tensor z = step.slices[0] + step.builder.matmul(h, step.invariants[0]) * 0.2f;
        const Tensor i = sigmoid(columns(z, 0, kUnits)), f = sigmoid(columns(z, kUnits, kUnits));
        const Tensor g = tanh(columns(z, 2 * kUnits, kUnits));
        const Tensor o = sigmoid(columns(z, 3 * kUnits, kUnits));
        const Tensor next = f * c + i * g;
        const Tensor out = o * tanh(next);
        return {{out, next}, {out}};
      });
  b.output("y0", result.carried[0]);
  b.output("y1", result.carried[1]);
  b.output("y2", result.stacked[0]);
}

// The carried value is read by the product that overwrites it, with widths around the lanes.
template <int kBatch, int kUnits>
void gated(Builder& b) {
  const Tensor x = floats(b, "x", {3, kBatch, kUnits});
  const Tensor u = floats(b, "u", {kUnits, kUnits});
  const ScanResult result = scan(b, {3}, {{floats(b, "h", {kBatch, kUnits})}}, {{x}}, {{u}},
                                 [](const ScanStep& step) -> ScanResult {
                                   const Tensor h = step.carried[0], gate = sigmoid(step.slices[0]);
                                   const Tensor z =
                                       step.builder.matmul(h * gate, step.invariants[0]) * 0.2f;
                                   return {{gate * h + (1.0f - gate) * (step.slices[0] + z)}, {}};
                                 });
  b.output("y", result.carried[0]);
}

// Only the last value is used, by two results; the body reads a transposed weight and a bias.
void last_value(Builder& b) {
  const Tensor x = floats(b, "x", {5, 3, 4});
  const Tensor u = floats(b, "u", {6, 6}), w = floats(b, "w", {4, 6}), bias = floats(b, "b", {6});
  const Tensor zeros = b.full({3, 6}, scalar::Number::of(0.0f));
  const ScanResult result =
      scan(b, {5}, {{zeros}}, {{x}}, {{u, w, bias}}, [](const ScanStep& step) -> ScanResult {
        Builder& inner = step.builder;
        const Tensor h = inner.matmul(step.carried[0], step.invariants[0], false, true) +
                         inner.matmul(step.slices[0], step.invariants[1]) + step.invariants[2];
        return {{tanh(h * 0.2f)}, {h, exp(h) * 0.1f}};
      });
  b.output("y0", result.carried[0]);
  b.output("y1", ops::flatten(result.carried[0]) * 2.0f);
}

// Carried values are exchanged, one is constant, one counts, and the last steps do not run.
void exchanged(Builder& b) {
  const Tensor length = b.input("n", DType::I32, {3, 1});
  const Tensor initial[] = {floats(b, "x", {3, 2}), floats(b, "y", {3, 2}), floats(b, "z", {3, 2}),
                            b.full({}, scalar::Number::of(0))};
  const ScanResult result =
      scan(b, {4}, initial, {}, {{length}}, [](const ScanStep& step) -> ScanResult {
        Builder& inner = step.builder;
        const Tensor x = step.carried[0], y = step.carried[1], z = step.carried[2];
        const Tensor count = step.carried[3];
        const Tensor still = inner.broadcast_to(count < step.invariants[0], x.shape());
        return {{y, select(still, x + z, x), z, count + 1.0f}, {x, z}};
      });
  for (int k = 0; k < 4; ++k) b.output(concat("y", k), result.carried[static_cast<size_t>(k)]);
  b.output("first", result.stacked[0]);
  b.output("second", result.stacked[1]);
}

// One after the other: the second loop reads what the first stacks, in the other order.
void after_each_other(Builder& b) {
  const Tensor x = floats(b, "x", {6, 2, 5}), u = floats(b, "u", {5, 5});
  const Tensor zeros = b.full({2, 5}, scalar::Number::of(0.0f));
  const auto body = [](const ScanStep& step) -> ScanResult {
    const Tensor h =
        tanh(step.slices[0] + step.builder.matmul(step.carried[0], step.invariants[0]) * 0.5f);
    return {{h}, {h}};
  };
  const ScanResult first = scan(b, {6}, {{zeros}}, {{x}}, {{u}}, body);
  const Tensor between = first.stacked[0] * x;
  const ScanResult second = scan(b, {6, true}, {{first.carried[0]}}, {{between}}, {{u}}, body);
  b.output("y0", second.stacked[0] + first.stacked[0]);
  b.output("y1", second.carried[0]);
}

void nested_loops(Builder& b) {
  const Tensor x = floats(b, "x", {3, 4, 5}), scale = floats(b, "s", {5});
  const Tensor zeros = b.full({5}, scalar::Number::of(0.0f));
  const ScanResult result =
      scan(b, {3}, {{zeros}}, {{x}}, {{scale}}, [](const ScanStep& outer) -> ScanResult {
        const ScanResult inner =
            scan(outer.builder, {4, true}, {{outer.carried[0]}}, {{outer.slices[0]}},
                 {{outer.invariants[0]}}, [](const ScanStep& step) -> ScanResult {
                   const Tensor sum = tanh(step.carried[0] * step.invariants[0] + step.slices[0]);
                   return {{sum}, {sum * 2.0f}};
                 });
        return {{inner.carried[0]}, {inner.stacked[0]}};
      });
  b.output("y0", result.carried[0]);
  b.output("y1", result.stacked[0]);
}

void no_steps(Builder& b) {
  const ScanResult result =
      scan(b, {0}, {{floats(b, "x", {3})}}, {}, {}, [](const ScanStep& step) -> ScanResult {
        return {{exp(step.carried[0])}, {}};
      });
  b.output("y0", result.carried[0]);
}

constexpr Case kLoopCases[] = {
    {"loop_lstm", lstm<5, 3, 6, false>},
    {"loop_lstm_reversed", lstm<3, 17, 33, true>},
    {"loop_lstm_one_step", lstm<1, 1, 4, false>},
    {"loop_gated_1", gated<7, 1>},
    {"loop_gated_5", gated<1, 5>},
    {"loop_gated_6", gated<2, 6>},
    {"loop_gated_7", gated<3, 7>},
    {"loop_gated_9", gated<4, 9>},
    {"loop_gated_13", gated<2, 13>},
    {"loop_last_value", last_value},
    {"loop_exchanged", exchanged},
    {"loop_after_each_other", after_each_other},
    {"loop_nested", nested_loops},
    {"loop_no_steps", no_steps},
};

}  // namespace

std::span<const Case> loop_cases() { return kLoopCases; }

}  // namespace lathe::ops_tests
