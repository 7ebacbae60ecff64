#include "product_cases.h"

#include "lathe/base/text.h"
#include "lathe/graph/builder.h"
#include "lathe/graph/elements.h"
#include "lathe/ops/windows/conv.h"

namespace lathe::ops_tests {

namespace {

using graph::Builder;
using graph::DType;
using graph::Shape;
using graph::Tensor;
using scalar::Number;
using scalar::Op;

struct Types {
  DType x, y;
};
constexpr Types kTypes[] = {
    {DType::I8, DType::I8},   {DType::U8, DType::I8},   {DType::U8, DType::U8},
    {DType::I16, DType::I16}, {DType::I8, DType::I16},  {DType::U16, DType::I8},
    {DType::I8, DType::I32},  {DType::F16, DType::F16}, {DType::BF16, DType::BF16},
    {DType::F16, DType::F32},
};

struct Size {
  int64_t rows, depth, columns;
};
constexpr Size kSizes[] = {{1, 40, 40},  {1, 16, 64}, {1, 39, 17}, {3, 2, 5},   {7, 16, 9},
                           {17, 24, 33}, {5, 1, 4},   {2, 31, 1},  {13, 38, 8}, {40, 36, 26}};

// All numbers of the type, the minimum and the maximum among them: inputs are from 0 to 3.
Tensor spread(Builder& b, Tensor x) {
  if (scalar::is_float(x.dtype())) return x;
  const auto number = [&](int64_t value) {
    return b.full({}, scalar::cast(Number::of(value), x.dtype()));
  };
  const int64_t step = scalar::size_of(x.dtype()) == 1 ? 85 : 21845;
  const Tensor factors[] = {x, number(step)};
  const Tensor scaled = b.map(Op::Mul, factors);
  const Tensor moved[] = {scaled, number(scalar::is_signed(x.dtype()) ? -128 * (step / 85) : 0)};
  return b.map(Op::Add, moved);
}

Tensor weights(Builder& b, DType dtype, const Shape& shape) {
  std::vector<std::byte> data(static_cast<size_t>(graph::element_count(shape)) *
                              static_cast<size_t>(scalar::size_of(dtype)));
  for (int64_t i = 0; i < graph::element_count(shape); ++i) {
    graph::store(data, i, Number::from(dtype, static_cast<int32_t>(i * 37 % 251) - 125));
  }
  return b.constant(dtype, shape, std::move(data));
}

class Products {
 public:
  template <class Build>
  Status add(std::string name, const Build& build) {
    Builder b("run");
    build(b);
    LATHE_ASSIGN_OR_RETURN(graph::Graph run, std::move(b).finish());
    ProductCase& each = cases.emplace_back();
    each.name = std::move(name);
    each.program.entries.push_back(std::move(run));
    return {};
  }

  Status add_all(const Types& types) {
    const std::string of = concat(scalar::text(types.x), '_', scalar::text(types.y));
    const auto product = [&](Builder& b, Tensor x, Tensor y, bool transposed) {
      const bool differ = scalar::computed(types.x) != scalar::computed(types.y);
      if (differ) x = b.cast(x, scalar::computed(types.y));
      b.output("z", b.matmul(x, y, transposed, transposed));
    };
    int number = 0;
    for (const auto& [rows, depth, columns] : kSizes) {
      const bool transposed = ++number % 2 == 0;
      const Shape left = transposed ? Shape{depth, rows} : Shape{rows, depth};
      const Shape right = transposed ? Shape{columns, depth} : Shape{depth, columns};
      const std::string size = concat(rows, 'x', depth, 'x', columns);
      LATHE_TRY(add(concat("short_product_", size, '_', of), [&](Builder& b) {
        product(b, spread(b, b.input("x", types.x, left)), spread(b, b.input("y", types.y, right)),
                transposed);
      }));
      LATHE_TRY(add(concat("short_weights_", size, '_', of), [&](Builder& b) {
        product(b, b.input("x", types.x, left), weights(b, types.y, right), transposed);
      }));
    }
    LATHE_TRY(add(concat("short_batched_", of), [&](Builder& b) {
      product(b, spread(b, b.input("x", types.x, {3, 5, 6})),
              spread(b, b.input("y", types.y, {3, 6, 9})), false);
    }));
    if (scalar::computed(types.x) != scalar::computed(types.y)) return {};
    for (const int64_t channels : {3, 4}) {
      LATHE_TRY(add(concat("short_conv_", channels, '_', of), [&](Builder& b) {
        const Tensor x = spread(b, b.input("x", types.x, {2, 6, 7, channels}));
        ops::ConvOptions options;
        options.window.padding = ops::Padding::Same;
        b.output("z", ops::conv(x, weights(b, types.y, {3, 2, channels, 9}), options));
      }));
    }
    return {};
  }

  std::vector<ProductCase> cases;
};

}  // namespace

Result<std::vector<ProductCase>> short_products() {
  Products products;
  for (const Types& types : kTypes) LATHE_TRY(products.add_all(types));
  return std::move(products.cases);
}

}  // namespace lathe::ops_tests
