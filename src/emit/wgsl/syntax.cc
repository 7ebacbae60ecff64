#include "lathe/emit/wgsl/syntax.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "lathe/base/text.h"

namespace lathe::emit_wgsl {

namespace {

constexpr std::string_view kTemplates[] = {
#define WGSL(text_) text_
#define LATHE_SCALAR_OP(name_, text_, arity_, signature_, means_, vjp_, fold_, cost_, accuracy_, \
                        expand_, wgsl_, wasm_)                                                   \
  wgsl_,
#include "lathe/scalar/ops.def"
#undef WGSL
};

#define EXPAND(...) #__VA_ARGS__
#define LATHE_SCALAR_OP(name_, text_, arity_, signature_, means_, vjp_, fold_, cost_, accuracy_, \
                        expand_, ...)                                                            \
  static_assert(!kTemplates[static_cast<size_t>(scalar::Op::name_)].empty() ||                   \
                    std::string_view(expand_) != "NONE",                                         \
                #name_ " has neither a text nor an expansion");
#include "lathe/scalar/ops.def"
#undef EXPAND

// Without branches, which some drivers compile slowly. Those that others call are at the end.
constexpr struct {
  std::string_view name, text;
} kFunctions[] = {
    {"to_i32", R"(
fn to_i32(x : f32) -> i32 {
  let above = select(i32(x), 2147483647i, x >= 2147483648f);
  return select(select(above, i32(-2147483648), x < -2147483648f), 0i, is_nan(x));
}
)"},
    {"to_u32", R"(
fn to_u32(x : f32) -> u32 {
  let above = select(u32(x), 4294967295u, x >= 4294967296f);
  return select(select(above, 0u, x < 0f), 0u, is_nan(x));
}
)"},
    // WGSL rounds up or down, to any value beyond the largest, and may lose subnormals. A power of
    // two pushes the digits beyond the last out, as in scalar/expand_float16.h.
    {"to_f16", R"(
fn to_f16(x : f32) -> f16 {
  let bits = bitcast<u32>(x);
  let size = bits & 0x7fffffffu;
  let power = max(size & 0x7f800000u, 0x38800000u) + 0x07800000u;
  let rounded = bitcast<u32>(bitcast<f32>(power) + abs(x) * 4f);
  let finite = ((rounded >> 13u) & 0x7c00u) + (rounded & 0xfffu);
  let number = select(0x7c00u, finite, size < 0x477ff000u);
  let half = select(number, 0x7e00u, size > 0x7f800000u);
  return bitcast<vec2<f16>>(half | ((bits >> 16u) & 0x8000u)).x;
}
)"},
    // By zero 0; the least by -1 is itself.
    {"divide_i32", R"(
fn divide_i32(x : i32, y : i32) -> i32 { return select(x / select(y, 1i, y == 0i), 0i, y == 0i); }
)"},
    {"divide_u32", R"(
fn divide_u32(x : u32, y : u32) -> u32 { return select(x / select(y, 1u, y == 0u), 0u, y == 0u); }
)"},
    {"max_f32", R"(
fn max_f32(x : f32, y : f32) -> f32 { return select(select(max(x, y), y, is_nan(y)), x, is_nan(x)); }
)"},
    {"min_f32", R"(
fn min_f32(x : f32, y : f32) -> f32 { return select(select(min(x, y), y, is_nan(y)), x, is_nan(x)); }
)"},
    {"eq_f32", R"(
fn eq_f32(x : f32, y : f32) -> bool { return (x == y) & !are_nan(x, y); }
)"},
    {"ne_f32", R"(
fn ne_f32(x : f32, y : f32) -> bool { return (x != y) | are_nan(x, y); }
)"},
    {"lt_f32", R"(
fn lt_f32(x : f32, y : f32) -> bool { return (x < y) & !are_nan(x, y); }
)"},
    {"le_f32", R"(
fn le_f32(x : f32, y : f32) -> bool { return (x <= y) & !are_nan(x, y); }
)"},
    {"gt_f32", R"(
fn gt_f32(x : f32, y : f32) -> bool { return (x > y) & !are_nan(x, y); }
)"},
    {"ge_f32", R"(
fn ge_f32(x : f32, y : f32) -> bool { return (x >= y) & !are_nan(x, y); }
)"},
    {"exp_f32", R"(
fn exp_f32(x : f32) -> f32 { return select(exp(x), x, is_nan(x)); }
)"},
    {"asinh_f32", R"(
fn asinh_f32(x : f32) -> f32 {
  let a = abs(x);
  let large = a > 268435456f;
  let above = select(a + a * a / (1f + sqrt(a * a + 1f)), a, large);
  return with_sign(log1p_f32(above) + select(0f, 0.69314718f, large), x);
}
)"},
    {"acosh_f32", R"(
fn acosh_f32(x : f32) -> f32 {
  let t = x - 1f;
  let large = x > 268435456f;
  let above = select(t + sqrt(t * (t + 2f)), x, large);
  let value = log1p_f32(above) + select(0f, 0.69314718f, large);
  return select(value, bitcast<f32>(bitcast<u32>(x) | 0x7fc00000u), is_nan(x) | (x < 1f));
}
)"},
    {"atanh_f32", R"(
fn atanh_f32(x : f32) -> f32 {
  let a = abs(x);
  return with_sign(0.5f * log1p_f32((a + a) / (1f - a)), x);
}
)"},
    {"with_sign", R"(
fn with_sign(size : f32, x : f32) -> f32 {
  return bitcast<f32>(bitcast<u32>(size) | (bitcast<u32>(x) & 0x80000000u));
}
)"},
    {"log1p_f32", R"(
fn log1p_f32(x : f32) -> f32 {
  return select(log_f32(1f + x), double_atanh(x / (2f + x)), abs(x) < 0.25f);
}
)"},
    // That of WGSL may be off by 2^-21 near 1. Of 0 it is -infinity, of what is less NaN.
    {"log_f32", R"(
fn log_f32(x : f32) -> f32 {
  let value = select(log(x), double_atanh((x - 1f) / (x + 1f)), abs(x - 1f) < 0.25f);
  let bits = bitcast<u32>(x);
  let special = select(bits | 0x7fc00000u, (bits & 0x80000000u) | 0xff800000u, x == 0f);
  return select(value, bitcast<f32>(special), is_nan(x) | (x <= 0f));
}
)"},
    // 2 atanh(t), which is log((1 + t) / (1 - t)), for small t.
    {"double_atanh", R"(
fn double_atanh(t : f32) -> f32 {
  let s = t * t;
  return 2f * t * fma(s, fma(s, fma(s, fma(s, 0.11111111f, 0.14285714f), 0.2f), 0.33333333f), 1f);
}
)"},
    // That of WGSL has an absolute error near 0.
    {"tanh_f32", R"(
fn tanh_f32(x : f32) -> f32 {
  let s = x * x;
  let series = x * fma(s, fma(s, fma(s, -0.053968254f, 0.13333333f), -0.33333333f), 1f);
  let value = select(tanh(clamp(x, -10f, 10f)), series, s < 0.0225f);
  return select(value, x, is_nan(x));
}
)"},
    {"sigmoid_f32", R"(
fn sigmoid_f32(x : f32) -> f32 { return select(1f / (1f + exp(-x)), x, is_nan(x)); }
)"},
    // The bits of one NaN if there is one: that of subgroupMax and subgroupMin is indeterminate.
    {"subgroup_max", R"(
fn subgroup_max(x : f32) -> f32 {
  let nan = subgroupMax(select(0u, bitcast<u32>(x), is_nan(x)));
  return select(subgroupMax(x), bitcast<f32>(nan), nan != 0u);
}
)"},
    {"subgroup_min", R"(
fn subgroup_min(x : f32) -> f32 {
  let nan = subgroupMax(select(0u, bitcast<u32>(x), is_nan(x)));
  return select(subgroupMin(x), bitcast<f32>(nan), nan != 0u);
}
)"},
    // Whether one is.
    {"are_nan", R"(
fn are_nan(x : f32, y : f32) -> bool {
  return max(bitcast<u32>(x) & 0x7fffffffu, bitcast<u32>(y) & 0x7fffffffu) > 0x7f800000u;
}
)"},
    {"is_nan", R"(
fn is_nan(x : f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }
)"},
};

// Whether its float form is the function NAME_f32, as drivers assume that there is no NaN.
bool meets_nan(scalar::Op op) {
  const bool compares = scalar::info(op).signature == scalar::Signature::Compare;
  return compares || op == scalar::Op::Max || op == scalar::Op::Min;
}

}  // namespace

// Whether operands of f16 are computed as such. What else there is of f16 is exact enough in f32,
// and rounds afterwards.
bool is_f16(scalar::Op op) {
  using enum scalar::Op;
  return op == Add || op == Sub || op == Mul || op == MulAdd || op == Select;
}

std::string through_f32(scalar::Op op, std::span<const std::string> operands) {
  std::vector<std::string> wide;
  for (const std::string& each : operands) wide.push_back(concat("f32(", each, ')'));
  std::string result = expression_of(op, scalar::DType::F32, wide);
  const bool compares = scalar::info(op).signature == scalar::Signature::Compare;
  return compares ? result : concat("to_f16(", result, ')');
}

bool needs_expansion(scalar::Op op) { return kTemplates[static_cast<size_t>(op)].empty(); }

std::string expression_of(scalar::Op op, scalar::DType dtype,
                          std::span<const std::string> operands) {
  if (op == scalar::Op::Div && scalar::is_integer(dtype)) {
    return concat("divide_", value_type(dtype), '(', operands[0], ", ", operands[1], ')');
  }
  if (dtype == scalar::DType::F16 && !is_f16(op)) return through_f32(op, operands);
  if (scalar::is_float(dtype) && meets_nan(op)) {
    std::string call = concat(scalar::info(op).text, "_f32(");
    for (size_t i = 0; i < operands.size(); ++i) append(call, i > 0 ? ", " : "", operands[i]);
    return call + ')';
  }
  if (op == scalar::Op::Neg && value_type(dtype) == "u32")
    return concat("(0u - ", operands[0], ')');
  const std::string_view pattern = kTemplates[static_cast<size_t>(op)];
  std::string out;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '{') {
      out += operands[static_cast<size_t>(pattern[i + 1] - '0')];
      i += 2;
    } else {
      out += pattern[i];
    }
  }
  return out;
}

std::string reduction_of(scalar::Op op, scalar::DType dtype, std::string_view value) {
  const bool is_sum = op == scalar::Op::Add, is_max = op == scalar::Op::Max;
  const std::string_view of_floats = is_max ? "subgroup_max(" : "subgroup_min(";
  const std::string_view exact = is_sum ? "subgroupAdd(" : is_max ? "subgroupMax(" : "subgroupMin(";
  return concat(scalar::is_float(dtype) && !is_sum ? of_floats : exact, value, ')');
}

std::string cast_of(std::string_view value, scalar::DType from, scalar::DType to) {
  using enum scalar::DType;
  if (from == to) return std::string(value);
  if (to == F16) return concat("to_f16(", from == F32 ? value : concat("f32(", value, ')'), ')');
  if (from == F16 && to != F32) return cast_of(concat("f32(", value, ')'), F32, to);
  const bool is_short = scalar::is_integer(to) && scalar::size_of(to) < 4;
  if (scalar::is_float(from) && scalar::is_integer(to)) {
    if (!is_short) return concat("to_", value_type(to), '(', value, ')');
    return concat("clamp(to_i32(", value, "), ", scalar::Number::lowest(to).i, ", ",
                  scalar::Number::highest(to).i, ')');
  }
  const bool fits = scalar::Number::lowest(from).i >= scalar::Number::lowest(to).i &&
                    scalar::Number::highest(from).i <= scalar::Number::highest(to).i;
  if (!is_short || fits) {
    return concat(value_type(to), '(', value, ')');
  }
  const int bits = 8 * scalar::size_of(to);
  if (!scalar::is_signed(to)) return concat("(i32(", value, ") & ", (1 << bits) - 1, ')');
  return concat("((i32(", value, ") << ", 32 - bits, "u) >> ", 32 - bits, "u)");
}

std::string functions_of(std::string_view code) {
  std::string functions;
  for (const auto& function : kFunctions) {
    const std::string call = concat(function.name, '(');
    if (code.contains(call) || functions.contains(call)) functions += function.text;
  }
  return functions;
}

std::string_view value_type(scalar::DType dtype) {
  constexpr std::string_view kTypes[] = {
#define WGSL(type_) #type_
#define LATHE_DTYPE(name_, text_, type_, kind_, computed_, wasm_, wgsl_, ...) wgsl_,
#include "lathe/scalar/dtypes.def"
#undef WGSL
  };
  return kTypes[static_cast<size_t>(dtype)];
}

bool has_type(scalar::DType dtype) { return value_type(dtype) != "NONE"; }

std::string_view storage_type(scalar::DType dtype) {
  const bool is_bits = dtype == scalar::DType::Bool || is_part_of_word(dtype, false);
  return is_bits ? "u32" : value_type(dtype);
}

bool is_part_of_word(scalar::DType dtype, bool of_words) {
  return scalar::size_of(dtype) < 4 && dtype != scalar::DType::Bool &&
         (of_words || dtype != scalar::DType::F16);
}

Function part_loader(int32_t binding, bool is_atomic, scalar::DType dtype) {
  const int bits = 8 * scalar::size_of(dtype), count = 32 / bits;
  std::string word = concat('b', binding, "[at / ", count, "u]");
  if (is_atomic) word = concat("atomicLoad(&", word, ')');
  const bool has_sign = scalar::kind_of(dtype) == scalar::DTypeKind::Signed;
  if (has_sign) word = concat("bitcast<i32>(", word, ')');
  std::string part =
      concat("extractBits(", word, ", at % ", count, "u * ", bits, "u, ", bits, "u)");
  if (!has_sign) part = of_bits(part, dtype);
  std::string name = concat("load_b", binding, '_', scalar::text(dtype));
  std::string text = concat("\nfn ", name, "(i : i32) -> ", value_type(dtype),
                            " {\n  let at = u32(i);\n  return ", part, ";\n}\n");
  return {std::move(name), std::move(text)};
}

Function part_storer(int32_t binding, scalar::DType dtype) {
  const int bits = 8 * scalar::size_of(dtype), count = 32 / bits;
  const std::string word = concat("&b", binding, "[at / ", count, "u]");
  const std::string_view value =
      dtype == scalar::DType::F16 ? "bitcast<u32>(vec2<f16>(value, 0h))" : "bitcast<u32>(value)";
  std::string name = concat("store_b", binding, '_', scalar::text(dtype));
  std::string text =
      concat("\nfn ", name, "(i : i32, value : ", value_type(dtype),
             ") {\n  let at = u32(i);\n  let offset = at % ", count, "u * ", bits,
             "u;\n  let changed = ((atomicLoad(", word, ") >> offset) ^ ", value, ") & ",
             (1 << bits) - 1, "u;\n  atomicXor(", word, ", changed << offset);\n}\n");
  return {std::move(name), std::move(text)};
}

std::string of_bits(std::string_view bits, scalar::DType dtype) {
  if (dtype == scalar::DType::F16) return concat("bitcast<vec2<f16>>(", bits, ").x");
  return concat("bitcast<", value_type(dtype), ">(", bits, ')');
}

bool has_literal(const scalar::Number& number) {
  if (!scalar::is_float(number.dtype)) return true;
  return std::isfinite(number.f) && !(number.f == 0 && std::signbit(number.f));
}

std::string literal(const scalar::Number& number) {
  switch (scalar::kind_of(number.dtype)) {
    case scalar::DTypeKind::Truth:
      return number.i != 0 ? "true" : "false";
    case scalar::DTypeKind::Signed:
    case scalar::DTypeKind::Unsigned:
      if (value_type(number.dtype) == "u32") return concat(number.i, 'u');
      if (number.i == std::numeric_limits<int32_t>::min()) return concat("i32(", number.i, ')');
      return number.i < 0 ? concat('(', number.i, "i)") : concat(number.i, 'i');
    case scalar::DTypeKind::Float: {
      // Its shortest decimal digits are above it, which WGSL rejects.
      if (std::abs(number.f) == std::numeric_limits<float>::max())
        return std::signbit(number.f) ? "(-0x1.fffffep+127f)" : "0x1.fffffep+127f";
      std::string text = concat(number.f, number.dtype == scalar::DType::F16 ? 'h' : 'f');
      return std::signbit(number.f) ? concat('(', text, ')') : text;
    }
  }
  return "";
}

std::string identifier(char kind, int32_t id, std::string_view name) {
  std::string out = concat(kind, id, '_');
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    out += plain ? c : '_';
  }
  return out;
}

}  // namespace lathe::emit_wgsl
