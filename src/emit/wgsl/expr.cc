// Expressions, addresses and guards of a kernel as WGSL text.
#include <algorithm>

#include "lathe/base/text.h"
#include "lathe/emit/wgsl/kernel.h"
#include "lathe/emit/wgsl/syntax.h"
#include "lathe/loop/rebuild.h"

namespace lathe::emit_wgsl {

using loop::Affine;
using loop::Expr;
using loop::ExprId;
using loop::ExprKind;
using loop::Guard;
using loop::Space;

namespace {

constexpr int kDeepest = 40;  // operations nested in one line; compilers reject deeper expressions

std::string_view sign(int64_t number, bool first) {
  if (first) return number < 0 ? "-" : "";
  return number < 0 ? " - " : " + ";
}

uint64_t magnitude(int64_t number) {
  return number < 0 ? uint64_t{0} - static_cast<uint64_t>(number) : static_cast<uint64_t>(number);
}

}  // namespace

// The operands of the expression in order, analyzed before any text is emitted.
std::vector<ExprId> KernelEmitter::find_uses(const loop::Stmt& stmt) {
  const std::vector<ExprId> order = loop::computed(kernel_, stmt);
  uses_.assign(static_cast<size_t>(order.back()) + 1, {});
  loop::for_each_root(stmt, [this](ExprId id) { ++uses_[static_cast<size_t>(id)].count; });
  for (const ExprId id : order) {
    const Expr& expr = kernel_.exprs[static_cast<size_t>(id)];
    const std::span operands(expr.operands.data(), static_cast<size_t>(expr.operand_count()));
    const bool is_shift = scalar::info(expr.op).signature == scalar::Signature::Shift;
    const bool all_constant = std::ranges::all_of(operands, [&](ExprId operand) {
      return kernel_.exprs[static_cast<size_t>(operand)].kind == ExprKind::Constant;
    });
    for (const ExprId operand : operands) {
      Use& use = uses_[static_cast<size_t>(operand)];
      ++use.count;
      use.must_vary |= all_constant || is_shift;
    }
  }
  return order;
}

bool KernelEmitter::is_named(ExprId id, ExprId root) const {
  const Use& use = uses_[static_cast<size_t>(id)];
  const ExprKind kind = kernel_.exprs[static_cast<size_t>(id)].kind;
  if (kind == ExprKind::Constant) return use.must_vary;
  // All threads reach its statement, even where only one stores.
  if (kind == ExprKind::Reduce) return true;
  return (use.count > 1 || use.depth >= kDeepest) && id != root;
}

std::string KernelEmitter::expression(ExprId id) {
  const Expr& expr = kernel_.exprs[static_cast<size_t>(id)];
  std::vector<std::string> operands;
  for (int i = 0; i < expr.operand_count(); ++i) {
    const ExprId operand = expr.operands[static_cast<size_t>(i)];
    const Use& use = uses_[static_cast<size_t>(operand)];
    operands.push_back(use.text);
    if (is_named(operand, id)) continue;
    Use& total = uses_[static_cast<size_t>(id)];
    total.depth = std::max(total.depth, use.depth + 1);
  }
  switch (expr.kind) {
    case ExprKind::Constant:
      return constant(id, expr.constant);
    case ExprKind::Index:
      return concat("i32(", affine(expr.address), ')');
    case ExprKind::Load:
      return load(expr);
    case ExprKind::Apply:
      return apply(expr, operands);
    case ExprKind::Cast:
      return cast(expr);
    case ExprKind::Reduce:
      return reduction_of(expr.op, expr.dtype, operands[0]);
  }
  return "";
}

std::string KernelEmitter::apply(const Expr& expr, std::span<const std::string> operands) {
  const loop::DType dtype = kernel_.exprs[static_cast<size_t>(expr.operands[0])].dtype;
  return expression_of(expr.op, dtype, operands);
}

// Bits stored in a variable are no constant expression.
std::string KernelEmitter::constant(ExprId id, const loop::Number& number) {
  if (has_literal(number)) return literal(number);
  lets_.push_back(concat("let bits", id, " = ", number.bits(), "u;"));
  return of_bits(concat("bits", id), number.dtype);
}

std::string KernelEmitter::load(const Expr& expr) {
  const std::string zero = literal(loop::Number::from(expr.dtype, 0));
  std::vector<Guard> guards;
  for (const Guard& guard : expr.guards) {
    if (!guard.index.is_constant()) guards.push_back(guard);
    const bool fails = guard.index.offset < 0 || guard.index.offset >= guard.extent;
    if (guard.index.is_constant() && fails) return zero;
  }
  std::string value = loaded(expr.buffer, expr.dtype,
                             position(expr.buffer, expr.address, expr.lookup, expr.operands[0]));
  if (guards.empty()) return value;
  return concat("select(", zero, ", ", value, ", ", conditions(guards), ')');
}

// The value of the element at this position.
std::string KernelEmitter::loaded(loop::BufferRef ref, loop::DType dtype, const std::string& at) {
  const std::string element = concat(buffer(ref), '[', at, ']');
  if (ref.space != Space::Global) return element;
  const Bindings::Access& access = bindings_[ref.id];
  const bool atomic = is_atomic(access);
  if (is_part_of_word(dtype, access.is_packed))
    return call(part_loader(access.binding, atomic, dtype), at);
  std::string word = atomic ? concat("atomicLoad(&", element, ')') : element;
  if (dtype == loop::DType::Bool) return concat('(', word, " != 0u)");
  return access.is_packed ? concat("bitcast<", value_type(dtype), ">(", word, ')') : word;
}

// The statement that stores a value there.
std::string KernelEmitter::stored(loop::BufferRef ref, loop::DType dtype, const std::string& at,
                                  std::string value) {
  const std::string element = concat(buffer(ref), '[', at, ']');
  if (ref.space != Space::Global) return concat(element, " = ", value, ';');
  const Bindings::Access& access = bindings_[ref.id];
  if (is_part_of_word(dtype, access.is_packed)) {
    return call(part_storer(access.binding, dtype), concat(at, ", ", value)) + ';';
  }
  if (dtype == loop::DType::Bool) {
    value = concat("select(0u, 1u, ", value, ')');
  } else if (access.is_packed) {
    value = concat("bitcast<u32>(", value, ')');
  }
  if (is_atomic(access)) return concat("atomicStore(&", element, ", ", value, ");");
  return concat(element, " = ", value, ';');
}

std::string KernelEmitter::call(const Function& function, std::string_view arguments) {
  if (std::ranges::find(functions_, function.text) == functions_.end()) {
    functions_.push_back(function.text);
  }
  return concat(function.name, '(', arguments, ')');
}

std::string KernelEmitter::cast(const Expr& expr) {
  const ExprId operand = expr.operands[0];
  const loop::DType from = kernel_.exprs[static_cast<size_t>(operand)].dtype;
  return cast_of(uses_[static_cast<size_t>(operand)].text, from, expr.dtype);
}

std::string KernelEmitter::position(loop::BufferRef ref, const Affine& address,
                                    const loop::Lookup& lookup, ExprId index) const {
  const int64_t offset = ref.space == Space::Global ? bindings_[ref.id].offset : 0;
  std::string index_text = affine(address + offset);
  if (lookup) {
    append(index_text, " + ", lookup.scale, " * clamp(", uses_[static_cast<size_t>(index)].text,
           ", 0, ", lookup.extent - 1, ')');
  }
  return index_text;
}

std::string KernelEmitter::affine(const Affine& form) const {
  std::string out;
  for (const loop::Term& term : form.terms) {
    append(out, sign(term.coefficient, out.empty()));
    if (magnitude(term.coefficient) != 1) append(out, magnitude(term.coefficient), " * ");
    out += var(term.var);
  }
  if (form.offset != 0 || out.empty()) {
    append(out, sign(form.offset, out.empty()), magnitude(form.offset));
  }
  return out;
}

std::string KernelEmitter::conditions(std::span<const Guard> guards) const {
  std::string out;
  for (const Guard& guard : guards) {
    const std::string index = affine(guard.index);
    append(out, out.empty() ? "" : " && ", "0 <= ", index, " && ", index, " < ", guard.extent);
  }
  return out.empty() ? "true" : out;
}

std::string KernelEmitter::var(loop::VarId id) const {
  return identifier('v', id, kernel_.vars[static_cast<size_t>(id)].name);
}

std::string KernelEmitter::buffer(loop::BufferRef ref) const {
  if (ref.space == Space::Global) return concat('b', bindings_[ref.id].binding);
  const loop::Buffer& buffer =
      loop::buffers_in(ref.space, module_, kernel_)[static_cast<size_t>(ref.id)];
  return identifier(ref.space == Space::Register ? 'r' : 's', ref.id, buffer.name);
}

bool KernelEmitter::is_atomic(const Bindings::Access& access) const {
  return bindings_.list()[static_cast<size_t>(access.binding)].is_atomic;
}

}  // namespace lathe::emit_wgsl
