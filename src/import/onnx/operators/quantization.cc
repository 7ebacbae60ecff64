// Quantized operators of ONNX, and those of com.microsoft that exported models have: products
// of 8-bit integers in 32 bits, everything else in dequantized floats.
#include <algorithm>

#include "lathe/base/text.h"
#include "lathe/import/onnx/operators/arithmetic.h"
#include "lathe/import/onnx/operators/narrow_floats.h"
#include "lathe/import/onnx/operators/products.h"
#include "lathe/import/onnx/operators/quantized.h"
#include "lathe/import/onnx/operators/reductions.h"
#include "lathe/import/onnx/operators/windows.h"
#include "lathe/import/onnx/trace/operators.h"
#include "lathe/ops/elementwise/activations.h"
#include "lathe/ops/movement/movement.h"

namespace lathe::onnx::rows {

namespace {

Tensor optional(Call& call, size_t i) { return call.has(i) ? call.tensor(i) : Tensor{}; }

// A parameter of a matrix, one number or one per row, as broadcastable to it.
Tensor by_row(Tensor x) {
  if (!x.valid() || x.rank() != 1 || x.shape()[0] == 1) return x;
  return x.builder->reshape(x, {x.shape()[0], 1});
}

// A parameter of weights [m, c, …], one number or one per output channel, as broadcastable to them.
Tensor by_result(Tensor x, int rank) {
  if (!x.valid()) return x;
  const int64_t count = graph::element_count(x.shape());
  if (count != 1 && rank == 0) return x.builder->error("its weights require an axis of results");
  Shape shape(count == 1 ? 0 : rank, 1);
  if (count != 1) shape[0] = count;
  return x.builder->reshape(x, shape);
}

// Operand i dequantized by its scale and zero point, the following operands.
Tensor operand_of(Call& call, size_t i) {
  return dequantize(call.tensor(i), call.tensor(i + 1), optional(call, i + 2));
}

// The result quantized by scale operand i and the following zero point.
Value result_of(Call& call, Tensor x, size_t i, Type otherwise) {
  const Type type = call.has(i + 1) ? call.type(i + 1) : otherwise;
  const Tensor scale = cast_to(call.tensor(i), DType::F32);
  return Value(quantize(x, scale, optional(call, i + 1), type), type);
}

Result<Tensor> integer_product(Call& call, Tensor x, Tensor x_zero, Tensor y, Tensor y_zero) {
  const Tensor left = minus_zero_point(x, by_row(x_zero));
  const Tensor right = minus_zero_point(y, y_zero);
  return product(call, left, right);
}

}  // namespace

Result<Values> quantize_linear(Call& call) {
  const Tensor x = call.tensor(0), scale_input = call.tensor(1);
  const int64_t axis = call.int_of("axis", 1), block = call.int_of("block_size", 0);
  LATHE_ASSIGN_OR_RETURN(Tensor scale, broadcast_parameter(call, x, scale_input, axis, block));
  Tensor zero_point;
  Type type = Type::UInt8;
  if (const auto named = type_of(call.int_of("output_dtype", 0))) type = *named;
  if (call.has(2)) {
    type = call.type(2);
    LATHE_ASSIGN_OR_RETURN(zero_point, broadcast_parameter(call, x, call.tensor(2), axis, block));
  }
  Tensor wide = scalar::is_float(x.dtype()) ? x : cast_to(x, DType::F32);
  if (is_stored_as_bits(call.type(1))) scale = widened(scale, call.type(1));
  const auto precision = type_of(call.int_of("precision", 0));
  const bool quantizes_jointly = wide.dtype() != scale.dtype();
  const DType dtype = precision           ? dtype_of(*precision)
                      : quantizes_jointly ? DType::F32
                                          : wide.dtype();
  wide = cast_to(wide, dtype);
  scale = cast_to(scale, dtype);
  const bool saturates = call.int_of("saturate", 1) != 0;
  if (!saturates && is_stored_as_bits(type)) {
    return Values{Value(narrowed(cast_to(wide / scale, DType::F32), type, {false}), type)};
  }
  return Values{Value(quantize(wide, scale, zero_point, type), type)};
}

Result<Values> dequantize_linear(Call& call) {
  const Tensor x = call.tensor(0), scale_input = call.tensor(1);
  const int64_t axis = call.int_of("axis", 1), block = call.int_of("block_size", 0);
  LATHE_ASSIGN_OR_RETURN(Tensor scale, broadcast_parameter(call, x, scale_input, axis, block));
  const Type from = call.type(0);
  Type to = call.type(1);
  if (const auto named = type_of(call.int_of("output_dtype", 0))) to = *named;
  if (is_stored_as_bits(call.type(1))) {
    scale = widened(scale, call.type(1));
    if (is_stored_as_bits(to)) to = Type::Float32;
  }
  Tensor wide = converted(x, from, Type::Float32);
  if (call.has(2)) {
    LATHE_ASSIGN_OR_RETURN(const Tensor zero_point,
                           broadcast_parameter(call, x, call.tensor(2), axis, block));
    wide = wide - converted(zero_point, call.type(2), Type::Float32);
  }
  return Values{Value(cast_to(wide * cast_to(scale, DType::F32), dtype_of(to)), to)};
}

Result<Values> dynamic_quantize_linear(Call& call) {
  const DynamicallyQuantized result = dynamic_quantize(call, call.tensor(0));
  return Values{result.values, result.scale, result.zero_point};
}

Result<Values> mat_mul_integer(Call& call) {
  const Tensor x = call.tensor(0), y = call.tensor(1);
  LATHE_ASSIGN_OR_RETURN(const Tensor z,
                         integer_product(call, x, optional(call, 2), y, optional(call, 3)));
  return Values{z};
}

Result<Values> conv_integer(Call& call) {
  const Tensor x = call.tensor(0), weights = call.tensor(1);
  const Tensor from = minus_zero_point(x, by_result(optional(call, 2), 1));
  const Tensor by = minus_zero_point(weights, by_result(optional(call, 3), weights.rank()));
  LATHE_ASSIGN_OR_RETURN(const Tensor y, convolved(call, from, by));
  return Values{channels_first(y)};
}

// com.microsoft's operator has the attribute channels_last.
Result<Values> qlinear_conv(Call& call) {
  const bool is_last = call.int_of("channels_last", 0) != 0;
  const Tensor x = is_last ? channels_first(call.tensor(0)) : call.tensor(0);
  const Tensor weights = call.tensor(3);
  const Tensor from = minus_zero_point(x, by_result(optional(call, 2), 1));
  const Tensor by = minus_zero_point(weights, by_result(optional(call, 5), weights.rank()));
  LATHE_ASSIGN_OR_RETURN(Tensor y, convolved(call, from, by));
  if (call.has(8)) y = y + call.tensor(8);
  const Tensor scale =
      cast_to(by_result(call.tensor(1), 1) * by_result(call.tensor(4), 1), DType::F32);
  const Tensor numbers = cast_to(y, DType::F32) * scale;
  const Value last = result_of(call, numbers, 6, call.type(0));
  return Values{Value(is_last ? last.tensor : channels_first(last.tensor), last.type)};
}

Result<Values> qlinear_mat_mul(Call& call) {
  const Tensor x = call.tensor(0), y = call.tensor(3);
  LATHE_ASSIGN_OR_RETURN(const Tensor z,
                         integer_product(call, x, optional(call, 2), y, optional(call, 5)));
  const Tensor left = by_row(cast_to(call.tensor(1), DType::F32));
  const Tensor numbers = cast_to(z, DType::F32) * left * cast_to(call.tensor(4), DType::F32);
  const Tensor y_scale = by_row(cast_to(call.tensor(6), DType::F32));
  const Type type = call.has(7) ? call.type(7) : call.type(0);
  return Values{Value(quantize(numbers, y_scale, by_row(optional(call, 7)), type), type)};
}

// com.microsoft from here on.
Result<Values> mat_mul_integer_to_float(Call& call) {
  const Tensor x = call.tensor(0), y = call.tensor(1);
  LATHE_ASSIGN_OR_RETURN(const Tensor z,
                         integer_product(call, x, optional(call, 4), y, optional(call, 5)));
  const Tensor scale = cast_to(call.tensor(2), DType::F32),
               by = cast_to(call.tensor(3), DType::F32);
  Tensor numbers = cast_to(z, DType::F32) * (by_row(scale) * by);
  if (call.has(6)) numbers = numbers + cast_to(call.tensor(6), DType::F32);
  return Values{cast_to(numbers, dtype_of(call.type(2)))};
}

Result<Values> dynamic_quantize_mat_mul(Call& call) {
  const DynamicallyQuantized x = dynamic_quantize(call, call.tensor(0));
  const Tensor y = call.tensor(1), scale = call.tensor(2);
  LATHE_ASSIGN_OR_RETURN(const Tensor z,
                         integer_product(call, x.values, x.zero_point, y, optional(call, 3)));
  const Tensor numbers = cast_to(z, DType::F32) * (x.scale * scale);
  return Values{call.has(4) ? numbers + call.tensor(4) : numbers};
}

Result<Values> qgemm(Call& call) {
  const Tensor x = minus_zero_point(call.tensor(0), by_row(optional(call, 2)));
  const Tensor y = call.tensor(3);
  const bool transpose_y = call.int_of("transB", 0) != 0;
  const Tensor y_zero = optional(call, 5);
  const Tensor by = minus_zero_point(y, transpose_y ? by_row(y_zero) : y_zero);
  Tensor z = x.builder->matmul(x, by, call.int_of("transA", 0) != 0, transpose_y);
  if (call.has(6)) z = z + call.tensor(6);
  const Tensor scale = by_row(call.tensor(1)) * call.tensor(4) * call.float_of("alpha", 1);
  const Tensor numbers = cast_to(z, DType::F32) * scale;
  if (!call.has(7)) return Values{numbers};
  return Values{result_of(call, numbers, 7, call.type(0))};
}

Result<Values> qlinear_binary(Call& call) {
  const Tensor x = operand_of(call, 0), y = operand_of(call, 3);
  return Values{result_of(call, call.op() == "QLinearAdd" ? x + y : x * y, 6, call.type(0))};
}

Result<Values> qlinear_where(Call& call) {
  const Tensor condition = call.tensor(0), x = operand_of(call, 1), y = operand_of(call, 4);
  return Values{result_of(call, select(condition, x, y), 7, call.type(1))};
}

Result<Values> qlinear_activation(Call& call) {
  const Tensor x = operand_of(call, 0);
  const Tensor y = call.op() == "QLinearSigmoid"
                       ? graph::sigmoid(x)
                       : ops::leaky_relu(x, call.float_of("alpha", 0.01f));
  return Values{result_of(call, y, 3, call.type(0))};
}

Result<Values> qlinear_softmax(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const int axis, call.axis(call.int_of("axis", -1), call.rank(0)));
  const Tensor x = operand_of(call, 0);
  Shape rows = x.shape();
  const Shape shape = rows;
  // Before version 13 everything from the axis on is one row.
  if (call.int_of("opset", 13) < 13) {
    rows.resize(axis);
    rows.push_back(-1);
  }
  const Tensor y = ops::softmax(x.builder->reshape(x, rows), axis);
  return Values{result_of(call, x.builder->reshape(y, shape), 3, call.type(0))};
}

Result<Values> qlinear_pool(Call& call) {
  const bool is_last = call.int_of("channels_last", 0) != 0;
  const Tensor scale_input = operand_of(call, 0);
  const Tensor x = is_last ? channels_first(scale_input) : scale_input;
  Tensor y;
  if (call.op() == "QLinearGlobalAveragePool") {
    std::vector<int> axes;
    for (int k = 2; k < x.rank(); ++k) axes.push_back(k);
    y = graph::mean(x, axes, true);
  } else {
    LATHE_ASSIGN_OR_RETURN(y, average_pooled(call, x));
  }
  return Values{result_of(call, is_last ? channels_last(y) : y, 3, call.type(0))};
}

// Scale and zero point of the result come first.
Result<Values> qlinear_concat(Call& call) {
  if (call.operands() < 5 || call.operands() % 3 != 2) {
    return call.reject("needs a scale and a zero point, then three inputs for each tensor");
  }
  std::vector<Tensor> parts;
  for (size_t i = 2; i < call.operands(); i += 3) parts.push_back(operand_of(call, i));
  const Tensor all = ops::concatenate(parts, static_cast<int>(call.int_of("axis", 0)));
  return Values{result_of(call, all, 0, call.type(2))};
}

}  // namespace lathe::onnx::rows
