// Recipes of operations that work element by element.
#include <algorithm>

#include "graph_generator.h"
#include "lathe/ops/elementwise/activations.h"
#include "lathe/ops/elementwise/arithmetic.h"
#include "lathe/ops/movement/indexing.h"
#include "lathe/ops/nn/losses.h"
#include "lathe/ops/operations.h"
#include "lathe/ops/random.h"

namespace lathe::random_tests {

namespace {

Tensor apply(GraphGenerator& g, Op op, std::vector<Tensor> operands) {
  return g.b.map(op, operands);
}

// The F32 operand restricted to the domain of this operation.
Tensor tamed(GraphGenerator& g, Op op, size_t operand, Tensor x) {
  const bool divides = op == Op::Div || op == Op::Mod || op == Op::FloorDiv;
  if (divides && operand == 1) {
    return g.rng.chance(50) ? g.positive(x) : select(x < zero(x), x - 0.5f, x + 0.5f);
  }
  // Differences do not see what is detached: here it is constant between steps.
  if (op == Op::Detach) return floor(x * 2.0f);
  if (op == Op::Exp || (op == Op::Pow && operand == 1)) return minimum(x, g.b.scalar(3));
  if (op == Op::Sinh || op == Op::Cosh || op == Op::Expm1) {
    return minimum(maximum(x, g.b.scalar(-3)), g.b.scalar(3));
  }
  if (op == Op::Asin || op == Op::Acos || op == Op::Atanh) return tanh(x) * 0.9f;
  if (op == Op::Acosh) return g.positive(x) + 1.0f;
  const bool needs_positive =
      op == Op::Sqrt || op == Op::Log || op == Op::Log1p || op == Op::Pow || op == Op::Atan2;
  if (needs_positive) return g.positive(x);
  return x;
}

// Any row of scalar/ops.def.
void elementwise(GraphGenerator& g) {
  const auto op = static_cast<Op>(g.rng.below(scalar::kOpCount));
  const scalar::OpInfo& info = scalar::info(op);
  std::vector<Tensor> operands;
  switch (info.signature) {
    case scalar::Signature::Number:
    case scalar::Signature::Quotient:
    case scalar::Signature::Compare:
      operands.push_back(g.rng.chance(80) ? g.floats() : g.ints());
      break;
    case scalar::Signature::Float:
    case scalar::Signature::Function:
    case scalar::Signature::Test:
    case scalar::Signature::ToBits:
      operands.push_back(g.floats());
      break;
    case scalar::Signature::Integer:
    case scalar::Signature::Shift:
    case scalar::Signature::FromBits:
      operands.push_back(g.ints());
      break;
    case scalar::Signature::Logic:
      operands.push_back(g.bools());
      break;
    case scalar::Signature::Choose: {
      const Tensor x = g.any();
      const Tensor condition = x.dtype() == DType::F32 ? g.partner(x) < x : g.bools();
      const Tensor y = x.dtype() == DType::F32 ? x : g.input(condition.shape(), x.dtype());
      return g.add(select(condition, y, g.partner(y)));
    }
  }
  if (op == Op::FromBits) {
    // The bits of a number from 0.5 to 2.
    const Tensor mask = g.b.full({}, scalar::Number::of(0x00ffffff));
    const Tensor least = g.b.full({}, scalar::Number::of(0x3f000000));
    operands[0] = apply(g, Op::BitOr, {apply(g, Op::BitAnd, {operands[0], mask}), least});
  }
  while (operands.size() < static_cast<size_t>(info.arity)) {
    operands.push_back(g.partner(operands[0]));
  }
  if (g.rng.chance(50)) std::ranges::reverse(operands);
  for (size_t k = 0; k < operands.size(); ++k) {
    if (operands[k].dtype() == DType::F32) operands[k] = tamed(g, op, k, operands[k]);
  }
  const Tensor result = apply(g, op, operands);
  g.add(op == Op::Mul && g.rng.chance(50) ? g.tame(result) : result);
}

// Arithmetic with a number that some rule looks for.
void with_number(GraphGenerator& g) {
  static constexpr std::array<float, 7> kNumbers = {0, 1, -1, 2, 0.5f, 3, 0.1f};
  static constexpr std::array<Op, 5> kOps = {Op::Add, Op::Sub, Op::Mul, Op::Max, Op::Min};
  const Tensor x = g.floats(), number = g.b.scalar(g.rng.of(kNumbers));
  const Op op = g.rng.of(kOps);
  g.add(g.rng.chance(50) ? apply(g, op, {x, number}) : apply(g, op, {number, x}));
}

constexpr std::array kDTypes = {DType::F32, DType::I32, DType::Bool};

// A formula of ops/operations.def.
void formula(GraphGenerator& g, std::string_view name) {
  const ops::Operation& operation =
      *std::ranges::find(ops::operations(), name, &ops::Operation::name);
  std::vector<Tensor> operands = {g.floats()};
  while (operands.size() < operation.parameters.size()) {
    operands.push_back(g.partner(operands.front()));
  }
  g.add(ops::add_operation(g.b, operation, operands, {}));
}

constexpr Recipe kElementwiseRecipes[] = {
#define FORMULA(text_, ...) {text_, [](GraphGenerator& g) { formula(g, text_); }},
#include "lathe/ops/operations.def"
    {"elementwise", elementwise, 12},  // the rows of scalar/ops.def
    {"with number", with_number},
    {"cast", [](GraphGenerator& g) { g.add(ops::cast(g.any(), g.rng.of(kDTypes))); }},
    {"square", [](GraphGenerator& g) { g.add(g.tame(ops::square(g.floats()))); }},
    {"reciprocal", [](GraphGenerator& g) { g.add(ops::reciprocal(g.positive(g.floats()))); }},
    {"rsqrt", [](GraphGenerator& g) { g.add(ops::rsqrt(g.positive(g.floats()))); }},
    {"squaredDifference",
     [](GraphGenerator& g) {
       const Tensor x = g.floats();
       g.add(g.tame(ops::squared_difference(x, g.partner(x))));
     }},
    {"clipByValue", [](GraphGenerator& g) { g.add(ops::clip_by_value(g.floats(), -0.75f, 0.5f)); }},
    {"relu", [](GraphGenerator& g) { g.add(ops::relu(g.floats())); }},
    {"relu6", [](GraphGenerator& g) { g.add(ops::relu6(g.floats() * 4.0f)); }},
    {"leakyRelu", [](GraphGenerator& g) { g.add(ops::leaky_relu(g.floats(), 0.2f)); }},
    {"elu", [](GraphGenerator& g) { g.add(ops::elu(g.floats(), 0.7f)); }},
    {"selu", [](GraphGenerator& g) { g.add(ops::selu(g.floats())); }},
    {"gelu", [](GraphGenerator& g) { g.add(ops::gelu(g.floats(), g.rng.chance(50))); }},
    {"softplus", [](GraphGenerator& g) { g.add(ops::softplus(g.floats())); }},
    {"hardSigmoid", [](GraphGenerator& g) { g.add(ops::hard_sigmoid(g.floats())); }},
    {"mish", [](GraphGenerator& g) { g.add(ops::mish(g.floats())); }},
    {"swish", [](GraphGenerator& g) { g.add(ops::swish(g.floats(), 1.5f)); }},
    {"range",
     [](GraphGenerator& g) {
       const Tensor start = g.input({}, DType::F32);
       const int size = static_cast<int>(g.rng.from(1, 60));
       g.add(ops::range(start, g.input({}, DType::F32), size, DType::F32));
     }},
    {"randomUniform",
     [](GraphGenerator& g) {
       const Tensor seed = g.input({}, DType::I32);
       g.add(ops::random_uniform(seed, g.rng.shape(2, 200), -1, 1));
     }},
    {"randomNormal",
     [](GraphGenerator& g) {
       const Tensor seed = g.input({2}, DType::I32);
       g.add(ops::random_normal(seed, g.rng.shape(1, 40), 0.5f, 1));
     }},
    {"truncatedNormal",
     [](GraphGenerator& g) {
       const Tensor seed = g.input({}, DType::I32);
       g.add(ops::truncated_normal(seed, g.rng.shape(1, 40), 0, 1));
     }},
    {"oneHot",
     [](GraphGenerator& g) {
       const Tensor classes = g.input({g.rng.size()}, DType::I32);
       g.add(ops::one_hot(classes, static_cast<int>(g.rng.size(20, false))));
     }},
};

}  // namespace

std::span<const Recipe> elementwise_recipes() { return kElementwiseRecipes; }

}  // namespace lathe::random_tests
