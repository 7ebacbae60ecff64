// Recipes of loops over time steps: recurrences with products, several carried values that read
// each other, slices, stacks and what all steps share.
#include "graph_generator.h"
#include "lathe/ops/control.h"
#include "lathe/ops/movement/movement.h"
#include "lathe/ops/reduction/recurrence.h"

namespace lathe::random_tests {

namespace {

using ops::ScanResult;
using ops::ScanStep;

struct Steps {
  int64_t steps, batch, units;
  ops::ScanOptions options;
};

Steps draw_steps(GraphGenerator& g) {
  const int64_t steps = g.rng.from(1, 5), batch = g.rng.size(5, false);
  return {steps, batch, g.rng.size(40, false), {steps, g.rng.chance(30)}};
}

void show(GraphGenerator& g, const ScanResult& result) {
  for (const auto* tensors : {&result.carried, &result.stacked}) {
    for (const Tensor& x : *tensors) {
      if (g.rng.chance(70)) g.add(x);
    }
  }
}

// h' = tanh(x + h u), of a width as it comes.
void recurrence(GraphGenerator& g) {
  const Steps s = draw_steps(g);
  const Tensor x = g.input({s.steps, s.batch, s.units}), u = g.input({s.units, s.units});
  const Tensor h = g.rng.chance(50) ? g.input({s.batch, s.units})
                                    : g.b.full({s.batch, s.units}, scalar::Number::of(0.0f));
  const bool stacks = g.rng.chance(60), scales = g.rng.chance(50);
  show(g, ops::scan(g.b, s.options, {{h}}, {{x}}, {{u}}, [&](const ScanStep& step) -> ScanResult {
         Tensor z = step.builder.matmul(step.carried[0], step.invariants[0]);
         if (scales) z = z * 0.2f;
         z = z + step.slices[0];
         const Tensor next = scales ? tanh(z) : z * 0.125f;
         if (!stacks) return {{next}, {}};
         return {{next}, {next}};
       }));
}

// Gates side by side; a product of what a gate lets through, as in gated units.
void gated(GraphGenerator& g) {
  const Steps s = draw_steps(g);
  const Tensor x = g.input({s.steps, s.batch, 2 * s.units}), h = g.input({s.batch, s.units});
  const Tensor u = g.input({s.units, s.units}), v = g.input({s.units, s.units});
  show(g,
       ops::scan(g.b, s.options, {{h}}, {{x}}, {{u, v}}, [&](const ScanStep& step) -> ScanResult {
         const Tensor state = step.carried[0];
         const auto part = [&](int64_t k) {
           return ops::slice(step.slices[0], {0, k * s.units}, Shape{s.batch, s.units});
         };
         graph::Builder& b = step.builder;
         const Tensor z = sigmoid(part(0) + b.matmul(state, step.invariants[0]) * 0.2f);
         const Tensor c = tanh(part(1) + b.matmul(z * state, step.invariants[1]) * 0.2f);
         return {{z * state + (1.0f - z) * c}, {c}};
       }));
}

// Carried values are exchanged; some read others, moved or summed.
void exchange(GraphGenerator& g) {
  const Steps s = draw_steps(g);
  const Shape shape{s.batch, s.units};
  const Tensor initial[] = {g.input(shape), g.input(shape), g.input(shape)};
  const Tensor x = g.input({s.steps, s.units});
  const int64_t kind = g.rng.below(4);
  show(
      g, ops::scan(g.b, s.options, initial, {{x}}, {}, [&](const ScanStep& step) -> ScanResult {
        const Tensor a = step.carried[0], b = step.carried[1], c = step.carried[2];
        Tensor moved = a;
        if (kind == 1) moved = ops::reverse(a, std::vector<int>{1});
        if (kind == 2) moved = sum(a, {1}, true) * 0.2f + c;
        if (kind == 3)
          moved = ops::pad(ops::slice(a, {0, 0}, Shape{s.batch, s.units - 1}), {{0, 0}, {1, 0}}, 0);
        return {{b, tanh(moved + step.slices[0]), a * 0.5f}, {c, moved}};
      }));
}

// A small convolution in each step.
void images(GraphGenerator& g) {
  const int64_t steps = g.rng.from(1, 4), batch = g.rng.from(1, 2);
  const int64_t size = g.rng.from(2, 6), channels = g.rng.size(6, false);
  const Tensor x = g.input({steps, batch, size, channels});
  const Tensor k = g.input({3, channels, channels}), h = g.input({batch, size, channels});
  const ops::ScanOptions options{steps, g.rng.chance(30)};
  show(g, ops::scan(g.b, options, {{h}}, {{x}}, {{k}}, [&](const ScanStep& step) -> ScanResult {
         const Tensor padded = ops::pad(step.carried[0], {{0, 0}, {1, 1}, {0, 0}}, 0);
         Tensor z = step.slices[0];
         for (int64_t tap = 0; tap < 3; ++tap) {
           const Tensor view = ops::slice(padded, {0, tap, 0}, Shape{batch, size, channels});
           const Tensor weight =
               ops::slice(step.invariants[0], {tap, 0, 0}, Shape{1, channels, channels});
           z = z + step.builder.matmul(view, ops::reshape(weight, {channels, channels})) * 0.2f;
         }
         return {{tanh(z)}, {z}};
       }));
}

// A data-dependent bool, the same for all random values.
Tensor drawn_truth(GraphGenerator& g, graph::Builder& b, Tensor x) {
  std::vector<int> axes;
  for (int axis = 0; axis < x.rank(); ++axis) axes.push_back(axis);
  const Tensor least = -sum(absolute(x), axes);
  return g.rng.chance(50) ? least < b.scalar(1) : least > b.scalar(1);
}

// Two branches of products and sums, one of which runs.
void branches(GraphGenerator& g) {
  const int64_t rows = g.rng.size(20, false), units = g.rng.size(40, false);
  const Tensor x = g.input({rows, units}), w = g.input({units, units});
  const auto product = [](graph::Builder& b, std::span<const Tensor> it) -> std::vector<Tensor> {
    const Tensor z = tanh(b.matmul(it[0], it[1]) * 0.2f);
    return {z, sum(z, {0}) * 0.1f};
  };
  const auto plain = [](graph::Builder&, std::span<const Tensor> it) -> std::vector<Tensor> {
    return {it[0] * 0.5f, sum(it[1], {1}) * 0.1f};
  };
  for (const Tensor& result : ops::cond(drawn_truth(g, g.b, x), {{x, w}}, product, plain)) {
    g.add(result);
  }
}

// A data-dependent number of iterations, or the maximum; perhaps a branch in each step.
void until(GraphGenerator& g) {
  const int64_t rows = g.rng.size(9, false), units = g.rng.size(40, false);
  const Tensor x = g.input({rows, units}), w = g.input({units, units});
  const int64_t times = g.rng.below(5), max_iterations = g.rng.from(0, 5);
  const bool branches = g.rng.chance(50);
  const auto goes_on = [times](graph::Builder& b, std::span<const Tensor> it) {
    return std::vector<Tensor>{it[0] < b.scalar(static_cast<float>(times))};
  };
  const auto add = [](graph::Builder&, std::span<const Tensor> it) {
    return std::vector<Tensor>{it[0] + it[1]};
  };
  const auto scale = [](graph::Builder&, std::span<const Tensor> it) {
    return std::vector<Tensor>{it[0] * 0.5f};
  };
  const auto step = [&](graph::Builder& b, std::span<const Tensor> it) -> std::vector<Tensor> {
    const Tensor z = tanh(b.matmul(it[1], it[2]) * 0.2f);
    if (!branches) return {it[0] + 1.0f, z + it[1] * 0.5f};
    return {it[0] + 1.0f, ops::cond(it[0] < b.scalar(2), {{z, it[1]}}, add, scale)[0]};
  };
  for (const Tensor& result :
       ops::while_loop(goes_on, step, {{g.b.scalar(0), x}}, {{w}}, max_iterations)) {
    if (result.valid() && result.rank() > 0) g.add(result);
  }
}

constexpr Recipe kLoopRecipes[] = {
    {"branches", branches},      {"while", until},       {"recurrence", recurrence},
    {"gated recurrence", gated}, {"exchange", exchange}, {"recurrent images", images},
};

}  // namespace

std::span<const Recipe> loop_recipes() { return kLoopRecipes; }

}  // namespace lathe::random_tests
