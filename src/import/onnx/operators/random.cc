// Operators that draw numbers. The seed of a node without one follows from the name of its result:
// every run draws the same numbers.
#include "lathe/ops/random.h"

#include <array>
#include <bit>

#include "lathe/base/text.h"
#include "lathe/import/onnx/trace/operators.h"
#include "lathe/import/onnx/trace/tracer.h"
#include "lathe/ops/elementwise/activations.h"
#include "lathe/ops/movement/indexing.h"
#include "lathe/ops/movement/movement.h"

namespace lathe::onnx::rows {

using graph::Builder;

namespace {

Tensor seed_of(Call& call) {
  uint32_t seed = 2166136261u;  // FNV-1a
  if (call.has_attribute("seed")) {
    seed = std::bit_cast<uint32_t>(call.float_of("seed", 0));
  } else {
    for (const char c : call.node().outputs[0]) {
      seed = (seed ^ static_cast<unsigned char>(c)) * 16777619u;
    }
  }
  return call.builder().full({}, scalar::Number::of(static_cast<int32_t>(seed)));
}

Result<Type> type_named(const Call& call, Type otherwise) {
  const int64_t number = call.int_of("dtype", static_cast<int64_t>(otherwise));
  if (const auto type = type_of(number); type && *type != Type::String) return *type;
  return call.reject(concat("dtype ", number, " is no type of numbers"));
}

Values typed(Tensor x, Type type) { return {Value(x.builder->convert(x, dtype_of(type)), type)}; }

// The shape is a copy: that of an operand moves when the builder grows.
Tensor uniform(Call& call, Shape shape) {
  return ops::random_uniform(seed_of(call), shape, call.float_of("low", 0),
                             call.float_of("high", 1));
}
Tensor normal(Call& call, Shape shape) {
  return ops::random_normal(seed_of(call), shape, call.float_of("mean", 0),
                            call.float_of("scale", 1));
}

}  // namespace

Result<Values> random_uniform(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const Type type, type_named(call, Type::Float32));
  return typed(uniform(call, call.ints_of("shape")), type);
}

Result<Values> random_normal(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const Type type, type_named(call, Type::Float32));
  return typed(normal(call, call.ints_of("shape")), type);
}

Result<Values> random_uniform_like(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const Type type, type_named(call, call.type(0)));
  if (call.tracer().depends_on_length(call.operand(0))) {
    return call.reject_length();
  }
  return typed(uniform(call, call.shape(0)), type);
}

Result<Values> random_normal_like(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const Type type, type_named(call, call.type(0)));
  if (call.tracer().depends_on_length(call.operand(0))) {
    return call.reject_length();
  }
  return typed(normal(call, call.shape(0)), type);
}

// 1 with the probability that x is, else 0.
Result<Values> bernoulli(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const Type type, type_named(call, call.type(0)));
  if (call.tracer().depends_on_length(call.operand(0))) {
    return call.reject_length();
  }
  const Tensor x = call.builder().cast(call.tensor(0), DType::F32);
  const Shape shape = x.shape();
  return typed(ops::random_uniform(seed_of(call), shape, 0, 1) < x, type);
}

// Classes by their logarithmic probabilities: how many cumulated ones a number from 0 to 1 passes.
Result<Values> multinomial(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const Type type, type_named(call, Type::Int32));
  Builder& builder = call.builder();
  const Tensor x = builder.cast(call.tensor(0), DType::F32);
  const int64_t samples = call.int_of("sample_size", 1);
  if (x.rank() != 2 || samples < 0) {
    return call.reject(concat("expects [batch, classes] and a sample size, has ",
                              bracketed(x.shape()), " and ", samples));
  }
  const int64_t batch = x.shape()[0], classes = x.shape()[1];
  const Tensor bounds = ops::cumsum(ops::softmax(x), 1, false, false);
  const Tensor inner = ops::slice(bounds, {0, 0}, Shape{batch, std::max<int64_t>(classes - 1, 0)});
  const Tensor drawn = ops::random_uniform(seed_of(call), {batch, samples, 1}, 0, 1);
  const Tensor passed = ops::expand_dims(inner, 1) <= drawn;
  return typed(builder.reduce(graph::Op::Add, builder.cast(passed, DType::I32), {2}), type);
}

}  // namespace lathe::onnx::rows
