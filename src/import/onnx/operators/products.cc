// Products of matrices and what is made of them: Gemm, MatMul, Einsum, Det.
#include "lathe/import/onnx/operators/products.h"

#include <array>

#include "lathe/import/onnx/operators/arithmetic.h"
#include "lathe/import/onnx/trace/operators.h"
#include "lathe/import/onnx/trace/tracer.h"
#include "lathe/ops/linalg/determinant.h"
#include "lathe/ops/linalg/einsum.h"
#include "lathe/ops/nn/attention.h"

namespace lathe::onnx {

namespace {

// Zeroes the padding of the summed axes of a matrix product.
void zero_summed_padding(Call& call, Tensor& x, Tensor& y, bool transpose_x = false,
                         bool transpose_y = false) {
  PaddedAxes* rows = call.tracer().padded_axes();
  if (rows == nullptr || x.rank() < 2 || y.rank() < 2) return;
  rows->zero_padding(x, x.rank() - (transpose_x ? 2 : 1), y, y.rank() - (transpose_y ? 1 : 2));
}

}  // namespace

Result<Tensor> product(Call& call, Tensor x, Tensor y) {
  Builder& builder = *x.builder;
  if (x.rank() < 1 || y.rank() < 1) return call.reject("operands must have axes");
  const bool is_row = x.rank() == 1, is_column = y.rank() == 1;
  if (is_row) x = builder.reshape(x, {1, x.shape()[0]});
  if (is_column) y = builder.reshape(y, {y.shape()[0], 1});
  zero_summed_padding(call, x, y);
  const Tensor z = builder.matmul(x, y);
  if (!z.valid() || (!is_row && !is_column)) return z;
  Shape shape = z.shape();
  if (is_column) shape.pop_back();
  if (is_row) shape.erase(shape.end() - (is_column ? 1 : 2));
  return builder.reshape(z, shape);
}

Tensor weighted_sum(Call& call, Tensor weights, Tensor v) {
  zero_summed_padding(call, weights, v);
  return ops::weighted_values(weights, v);
}

Tensor mask_and(Tensor x, Tensor y) {
  if (!x.valid()) return y;
  if (!y.valid()) return x;
  return x.builder->map(scalar::Op::And, std::array{x, y});
}

namespace rows {

Result<Values> mat_mul(Call& call) {
  const Tensor x = call.tensor(0), y = call.tensor(1);
  LATHE_ASSIGN_OR_RETURN(const Tensor z, product(call, x, y));
  return Values{cast_like(z, x)};
}

// com.microsoft: transBatchB also permutes the batch axes.
Result<Values> fused_mat_mul(Call& call) {
  const auto ordered = [&](size_t i, std::string_view batch) {
    const Tensor x = call.tensor(i);
    if (call.int_of(batch, 0) == 0 || x.rank() < 3) return x;
    std::vector<int> order;  // [a, b…, c] -> [b…, a, c]
    for (int k = 1; k < x.rank() - 1; ++k) order.push_back(k);
    order.insert(order.end(), {0, x.rank() - 1});
    return x.builder->permute(x, order);
  };
  Tensor x = ordered(0, "transBatchA"), y = ordered(1, "transBatchB");
  Tensor z;
  if (x.rank() < 2 || y.rank() < 2) {
    LATHE_ASSIGN_OR_RETURN(z, product(call, x, y));
  } else {
    const bool transpose_x = call.int_of("transA", 0) != 0,
               transpose_y = call.int_of("transB", 0) != 0;
    zero_summed_padding(call, x, y, transpose_x, transpose_y);
    z = x.builder->matmul(x, y, transpose_x, transpose_y);
  }
  const float alpha = call.float_of("alpha", 1);
  return Values{cast_like(alpha == 1 ? z : alpha * z, x)};
}

// Gemm, and FusedGemm of com.microsoft: with an activation.
Result<Values> gemm(Call& call) {
  Tensor x = call.tensor(0), y = call.tensor(1);
  const bool transpose_x = call.int_of("transA", 0) != 0,
             transpose_y = call.int_of("transB", 0) != 0;
  zero_summed_padding(call, x, y, transpose_x, transpose_y);
  Tensor z = x.builder->matmul(x, y, transpose_x, transpose_y);
  const float alpha = call.float_of("alpha", 1), beta = call.float_of("beta", 1);
  if (alpha != 1) z = alpha * z;
  if (call.has(2)) {
    const Tensor c = cast_like(call.tensor(2), z);
    z = z + (beta == 1 ? c : beta * c);
  }
  LATHE_ASSIGN_OR_RETURN(z, activated(call, z));
  return Values{cast_like(z, x)};
}

Result<Values> einsum(Call& call) {
  std::vector<Tensor> operands;
  for (size_t i = 0; i < call.operands(); ++i) operands.push_back(call.tensor(i));
  if (operands.empty()) return call.reject("needs operands");
  return Values{cast_like(ops::einsum(call.string_of("equation", ""), operands), operands[0])};
}

Result<Values> det(Call& call) {
  const Tensor x = call.tensor(0);
  return Values{cast_like(ops::determinant(in_floats(x)), x)};
}

}  // namespace rows

}  // namespace lathe::onnx
