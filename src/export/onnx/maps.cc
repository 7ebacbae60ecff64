// Types: ONNX Runtime computes in f32, f64, i32 and i64; others go by way of these.
#include "lathe/export/onnx/maps.h"

#include <limits>
#include <optional>

#include "lathe/base/text.h"
#include "lathe/graph/elements.h"

namespace lathe::onnx_export {

using scalar::Number;
using scalar::Op;

namespace {

std::string_view operator_of(Op op) {
  switch (op) {
#define LATHE_ONNX(op_, text_) \
  case Op::op_:                \
    return text_;
#include "lathe/export/onnx/operators.def"
  }
  return {};
}

// The type with whose bits numbers of this type are added and multiplied.
DType wrapping(DType dtype) {
  return dtype == DType::U32 || dtype == DType::U64 ? DType::I64 : dtype;
}

class Maps {
 public:
  explicit Maps(Writer& writer) : w_(writer) {}

  Tensor number(DType dtype, double value) { return w_.number(Number::from(dtype, value)); }
  Tensor like(const Tensor& x, double value) { return number(x.dtype, value); }

  Tensor as(const Tensor& x, DType dtype) { return w_.cast(x, dtype); }
  Tensor op(std::string_view name, const Tensor& x) { return w_.map(name, {x}); }
  Tensor op(std::string_view name, const Tensor& x, const Tensor& y) {
    return w_.map(name, {x, y});
  }
  Tensor test(std::string_view name, const Tensor& x, const Tensor& y) {
    return w_.map(name, {x, y}, DType::Bool);
  }
  Tensor is_zero(const Tensor& x) { return test("Equal", x, like(x, 0)); }
  Tensor is_negative(const Tensor& x) { return test("Less", x, like(x, 0)); }
  Tensor no(const Tensor& x) { return w_.map("Not", {x}, DType::Bool); }
  Tensor both(const Tensor& x, const Tensor& y) { return test("And", x, y); }
  Tensor differ(const Tensor& x, const Tensor& y) { return test("Xor", x, y); }
  Tensor choose(const Tensor& c, const Tensor& x, const Tensor& y) {
    return w_.map("Where", {c, x, y}, x.dtype);
  }

  // The value of a constant scalar x.
  std::optional<Number> constant_of(const Tensor& x) const {
    const Constant* signed_x = w_.find_constant(x);
    if (signed_x == nullptr || !x.shape.empty()) return std::nullopt;
    return graph::load(signed_x->dtype, {signed_x->data.data(), signed_x->data.size()}, 0);
  }

  // Toward zero; by zero 0; nothing traps.
  Tensor quotient(const Tensor& x, const Tensor& y) {
    const auto divisor = constant_of(y);
    if (divisor && divisor->as_double() != 0 && divisor->as_double() != -1) return op("Div", x, y);
    const Tensor by_minus_one = test("Equal", y, like(y, -1)), by_zero = is_zero(y);
    const Tensor safe = choose(test("Or", by_minus_one, by_zero), like(y, 1), y);
    const Tensor truncated = choose(by_minus_one, op("Neg", x), op("Div", x, safe));
    return choose(by_zero, like(x, 0), truncated);
  }

  Tensor floor_quotient(const Tensor& x, const Tensor& y) {
    if (scalar::is_float(x.dtype)) {
      const Tensor truncated = op("Div", as(x, DType::F64), as(y, DType::F64));
      return as(op("Floor", truncated), x.dtype);
    }
    const Tensor truncated = quotient(x, y), rest = op("Sub", x, op("Mul", truncated, y));
    const Tensor leaves = both(no(is_zero(y)), no(is_zero(rest)));
    const Tensor down = both(leaves, differ(is_negative(rest), is_negative(y)));
    return choose(down, op("Sub", truncated, like(x, 1)), truncated);
  }

  Tensor modulo(const Tensor& x, const Tensor& y) {
    if (!scalar::is_float(x.dtype)) {
      return choose(is_zero(y), like(x, 0), op("Sub", x, op("Mul", floor_quotient(x, y), y)));
    }
    const Tensor rest =
        w_.node("Mod", {x, y}, x.dtype, common_shape({&x.shape, &y.shape}), {{"fmod", int64_t{1}}});
    const Tensor other = both(no(is_zero(rest)), differ(is_negative(rest), is_negative(y)));
    return choose(other, op("Add", rest, y), rest);
  }

  // tanh(x / 2) (e^x + 1): exact near 0.
  Tensor expm1(const Tensor& x) {
    const Tensor half = op("Tanh", op("Mul", x, like(x, 0.5)));
    const Tensor near = op("Mul", half, op("Add", op("Exp", x), like(x, 1)));
    return choose(test("Less", op("Abs", x), like(x, 1)), near,
                  op("Sub", op("Exp", x), like(x, 1)));
  }

  // log(u) x / (u - 1) with u = 1 + x as it is rounded: Goldberg, "What every computer scientist
  // should know about floating-point arithmetic", theorem 4.
  Tensor log1p(const Tensor& x) {
    const Tensor u = op("Add", x, like(x, 1)), rounded = op("Sub", u, like(x, 1));
    const Tensor is_tiny = is_zero(rounded);
    const Tensor safe = choose(is_tiny, like(x, 1), rounded);
    const Tensor near = op("Mul", op("Log", u), op("Div", x, safe));
    const Tensor is_near = test("Less", op("Abs", x), like(x, 1));
    return choose(is_tiny, x, choose(is_near, near, op("Log", u)));
  }

  Tensor atan2(const Tensor& y, const Tensor& x) {
    constexpr double kPi = 3.14159265358979323846;
    const Tensor angle = op("Atan", op("Div", y, x));
    const Tensor signed_pi = choose(is_negative(y), like(y, -kPi), like(y, kPi));
    const Tensor half = op("Mul", signed_pi, like(y, 0.5));
    const Tensor left = op("Add", angle, signed_pi);
    const Tensor aside = choose(is_negative(x), left, angle);
    const Tensor on_axis = choose(is_zero(y), choose(is_negative(x), signed_pi, like(y, 0)), half);
    return choose(is_zero(x), on_axis, aside);
  }

  Tensor is_finite(const Tensor& x) {
    const Tensor nan = w_.map("IsNaN", {x}, DType::Bool);
    const Tensor infinite = w_.map("IsInf", {x}, DType::Bool);
    return no(test("Or", nan, infinite));
  }

  Tensor shift(bool left, const Tensor& x, const Tensor& y) {
    const bool is_long = scalar::size_of(x.dtype) == 8;
    const DType bits = is_long ? DType::U64 : DType::U32;
    const Tensor by = op("BitwiseAnd", as(y, bits), number(bits, is_long ? 63 : 31));
    const auto moved = [&](const Tensor& each) {
      return as(
          w_.node("BitShift", {as(each, bits), by}, bits, common_shape({&each.shape, &by.shape}),
                  {{"direction", std::string(left ? "LEFT" : "RIGHT")}}),
          x.dtype);
    };
    if (left || !scalar::is_signed(x.dtype)) return moved(x);
    const Tensor filled = op("BitwiseNot", moved(op("BitwiseNot", x)));
    return choose(is_negative(x), filled, moved(x));
  }

  // For comparisons: u64 in the order of i64.
  Tensor ordered(const Tensor& x) {
    const Tensor signed_x = as(x, wrapping(x.dtype));
    if (x.dtype != DType::U64) return signed_x;
    const Tensor least = w_.number(Number::lowest(DType::I64));
    return op("Add", signed_x, least);
  }

 private:
  Writer& w_;
};

// Operations without an operator in operators.def.
Tensor expanded(Maps& m, Op op, std::span<const Tensor> x) {
  switch (op) {
    case Op::Div:
      return scalar::is_float(x[0].dtype) ? m.op("Div", x[0], x[1]) : m.quotient(x[0], x[1]);
    case Op::Mod:
      return m.modulo(x[0], x[1]);
    case Op::FloorDiv:
      return m.floor_quotient(x[0], x[1]);
    case Op::MulAdd:
      return m.op("Add", m.op("Mul", x[0], x[1]), x[2]);
    case Op::Neg:
      return m.op("Neg", x[0]);
    case Op::Trunc:
      return m.choose(m.is_negative(x[0]), m.op("Ceil", x[0]), m.op("Floor", x[0]));
    case Op::Expm1:
      return m.expm1(x[0]);
    case Op::Log1p:
      return m.log1p(x[0]);
    case Op::Atan2:
      return m.atan2(x[0], x[1]);
    case Op::IsFinite:
      return m.is_finite(x[0]);
    case Op::Ne:
      return m.no(m.test("Equal", x[0], x[1]));
    case Op::ShiftLeft:
    case Op::ShiftRight:
      return m.shift(op == Op::ShiftLeft, x[0], x[1]);
    default:
      return x[0];
  }
}

// Whether the operator supports unsigned types.
bool is_on_unsigned(Op op) {
  const auto signature = scalar::info(op).signature;
  return op == Op::Max || op == Op::Min || op == Op::Detach ||
         signature == scalar::Signature::Integer || signature == scalar::Signature::Shift;
}

}  // namespace

Tensor select(Writer& writer, const Tensor& condition, const Tensor& x, const Tensor& y) {
  const bool is_short = scalar::size_of(x.dtype) < 4;
  const DType dtype = x.dtype == DType::Bool ? DType::U8
                      : is_short             ? scalar::computed(x.dtype)
                                             : wrapping(x.dtype);
  const Tensor chosen =
      writer.map("Where", {condition, writer.cast(x, dtype), writer.cast(y, dtype)}, dtype);
  return writer.cast(chosen, x.dtype);
}

Result<Tensor> map(Writer& writer, Op op, std::span<const Tensor> operands) {
  const scalar::OpInfo& info = scalar::info(op);
  if (op == Op::Select) return select(writer, operands[0], operands[1], operands[2]);
  if (op == Op::Detach) return operands[0];
  const DType dtype = operands[0].dtype;
  const bool is_division = op == Op::Div || op == Op::Mod || op == Op::FloorDiv;
  if (op == Op::ToBits || op == Op::FromBits || (is_division && dtype == DType::U64)) {
    return fail(concat(info.text, " of ", scalar::text(dtype), " has no operator in ONNX"));
  }
  Maps maps(writer);
  const bool is_unsigned = scalar::is_integer(dtype) && !scalar::is_signed(dtype);
  if (is_unsigned && op == Op::Abs) return operands[0];
  if (is_unsigned && op == Op::Sign) return maps.op("Min", operands[0], maps.number(dtype, 1));
  const bool compares = info.signature == scalar::Signature::Compare;
  const bool is_bool = compares || info.signature == scalar::Signature::Test ||
                       info.signature == scalar::Signature::Logic;
  std::vector<Tensor> arguments;
  for (const Tensor& each : operands) {
    arguments.push_back(compares             ? maps.ordered(each)
                        : is_on_unsigned(op) ? each
                                             : writer.cast(each, wrapping(dtype)));
  }
  Tensor result;
  if (const std::string_view name = operator_of(op); name.empty()) {
    result = expanded(maps, op, arguments);
  } else {
    Shape shape;
    for (const Tensor& each : arguments) shape = common_shape({&shape, &each.shape});
    result =
        writer.node(name, arguments, is_bool ? DType::Bool : arguments[0].dtype, std::move(shape));
  }
  return is_bool ? result : writer.cast(result, dtype);
}

Tensor convert(Writer& writer, const Tensor& x, DType dtype) {
  const bool saturates = scalar::is_float(x.dtype) && scalar::is_integer(dtype) &&
                         (scalar::size_of(dtype) < 4 || dtype == DType::U32);
  if (!saturates) return writer.cast(x, dtype);
  const DType wide = dtype == DType::U32 ? DType::I64 : DType::I32;
  const Tensor least = writer.number(cast(Number::lowest(dtype), wide));
  const Tensor high = writer.number(cast(Number::highest(dtype), wide));
  const Tensor clipped =
      writer.map("Min", {writer.map("Max", {writer.cast(x, wide), least}), high});
  return writer.cast(clipped, dtype);
}

}  // namespace lathe::onnx_export
