// Every row of scalar/ops.def with an expansion, over numbers of every exponent: engines return the
// bits of the interpreted expansion, whose accuracy tests/unit/scalar bounds.
#include "row_cases.h"

#include <bit>

#include "lathe/base/text.h"
#include "lathe/graph/builder.h"
#include "lathe/graph/elements.h"

namespace lathe::ops_tests {

namespace {

constexpr int64_t kCount = 603;  // not a multiple of four lanes

scalar::Number sample(DType dtype, std::mt19937& random) {
  const auto bits = static_cast<uint32_t>(random());
  if (dtype == DType::I32) return scalar::Number::of(static_cast<int32_t>(bits) >> (bits % 32));
  constexpr float kEdges[] = {0, -0.0f, 1, -1, 0.5f, 2, 88.8f, -104, 1e-45f, 3e38f};
  if (bits % 8 == 0) return scalar::Number::of(kEdges[bits / 8 % std::size(kEdges)]);
  if (bits % 4 == 1) return scalar::Number::of(std::bit_cast<float>(bits));
  return scalar::Number::of(static_cast<float>(bits) / 4294967296.0f * 20 - 10);
}

Array samples(DType dtype, std::mt19937& random) {
  Array array = Array::zeros(dtype, {kCount});
  for (int64_t i = 0; i < kCount; ++i) graph::store(array.data, i, sample(dtype, random));
  return array;
}

}  // namespace

Status run_row(scalar::Op op, DType dtype, Manifest& manifest) {
  const int arity = scalar::info(op).arity;
  graph::Builder builder("run");
  std::mt19937 random(11);
  Expectation test;
  test.name = concat("row_", scalar::info(op).text, '_', scalar::text(dtype));
  test.exact = true;
  std::vector<graph::Tensor> operands;
  for (int i = 0; i < arity; ++i) {
    const std::string name = concat("x", i);
    operands.push_back(builder.input(name, dtype, {kCount}));
    test.inputs[name] = samples(dtype, random);
  }
  builder.output("y", builder.map(op, operands));
  graph::Program program;
  LATHE_ASSIGN_OR_RETURN(graph::Graph graph, std::move(builder).finish());
  program.entries.push_back(std::move(graph));
  LATHE_ASSIGN_OR_RETURN(Outcome outcome, interpret_expanded(program, test));
  test.expected.push_back(std::move(outcome));
  for (const Variant& variant : kVariants) {
    if (variant.features.relaxed_simd) continue;  // rounds fused products once
    compile::Options options;
    options.features = variant.features;
    options.worth_splitting = kSplitAlways;
    options.verify = true;
    LATHE_ASSIGN_OR_RETURN(const compile::Executable executable,
                           compile::compile(program, options));
    manifest.add(test, variant.name, executable);
  }
  return {};
}

}  // namespace lathe::ops_tests
