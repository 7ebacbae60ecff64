#include "lathe/loop/loop.h"

#include <algorithm>
#include <utility>

#include "lathe/base/check.h"
#include "lathe/base/text.h"

namespace lathe::loop {

namespace {

size_t mix(size_t hash, size_t value) { return (hash ^ value) * size_t{0x9e3779b1} + (hash >> 7); }

size_t hash_of(const Affine& affine, size_t hash) {
  for (const Term& term : affine.terms) {
    hash = mix(mix(hash, static_cast<size_t>(term.var)), static_cast<size_t>(term.coefficient));
  }
  return mix(hash, static_cast<size_t>(affine.offset));
}

size_t hash_of(const Expr& expr) {
  size_t hash = mix(static_cast<size_t>(expr.kind), static_cast<size_t>(expr.op));
  hash = mix(mix(hash, static_cast<size_t>(expr.constant.bits())),
             static_cast<size_t>(expr.buffer.id));
  for (ExprId operand : expr.operands) hash = mix(hash, static_cast<size_t>(operand));
  return hash_of(expr.address, hash);
}

// The name, with a numeric suffix if one of `items` has it.
template <class T>
std::string unused_name(const std::vector<T>& items, std::string name) {
  std::string result = name;
  for (size_t number = items.size();; ++number) {
    if (std::none_of(items.begin(), items.end(),
                     [&](const T& item) { return item.name == result; }))
      return result;
    result = concat(name, number);
  }
}

}  // namespace

int Expr::operand_count() const {
  switch (kind) {
    case ExprKind::Constant:
    case ExprKind::Index:
      return 0;
    case ExprKind::Load:
      return lookup ? 1 : 0;
    case ExprKind::Apply:
      return scalar::info(op).arity;
    case ExprKind::Cast:
    case ExprKind::Reduce:
      return 1;
  }
  return 0;
}

bool same(const Expr& a, const Expr& b) {
  return a.kind == b.kind && a.dtype == b.dtype && a.constant.same_bits(b.constant) &&
         a.address == b.address && a.buffer == b.buffer && a.guards == b.guards &&
         a.lookup == b.lookup && a.op == b.op && a.rare == b.rare && a.operands == b.operands;
}

VarId Kernel::add_var(std::string var_name, int64_t extent) {
  return vars.push_back({unused_name(vars, std::move(var_name)), extent});
}

BufferRef Kernel::add_register(std::string register_name, DType dtype, int64_t size) {
  return {Space::Register, registers.push_back({unused_name(registers, std::move(register_name)),
                                                dtype,
                                                size,
                                                BufferRole::Temporary,
                                                {}})};
}

BufferRef Kernel::add_shared(std::string shared_name, DType dtype, int64_t size) {
  return {
      Space::Workgroup,
      shared.push_back(
          {unused_name(shared, std::move(shared_name)), dtype, size, BufferRole::Temporary, {}})};
}

void Kernel::reread(BufferRef buffer) {
  if (std::ranges::find(rereads, buffer.id) == rereads.end()) rereads.push_back(buffer.id);
}

const Table<BufferId, Buffer>& buffers_in(Space space, const Module& module, const Kernel& kernel) {
  switch (space) {
    case Space::Global:
      return module.buffers;
    case Space::Register:
      return kernel.registers;
    case Space::Workgroup:
      return kernel.shared;
  }
  return module.buffers;
}

namespace {

std::vector<Step> steps_between(const Entry& entry, size_t begin, size_t end, int32_t around) {
  std::vector<Step> steps;
  while (begin < end) {
    int32_t repeat = entry.kernels[begin].repeat;
    Step& step = steps.emplace_back(begin, begin + 1);
    if (repeat != around) {
      while (entry.repeats[repeat].around != around) {
        repeat = entry.repeats[repeat].around;
      }
      step.repeat = repeat;
      while (step.end < end && is_inside(entry, entry.kernels[step.end].repeat, repeat)) ++step.end;
    }
    begin = step.end;
  }
  return steps;
}

}  // namespace

bool is_inside(const Entry& entry, int32_t repeat, int32_t around) {
  while (repeat >= 0 && repeat != around) {
    repeat = entry.repeats[repeat].around;
  }
  return repeat == around;
}

std::vector<Step> steps_of(const Entry& entry) {
  return steps_between(entry, 0, entry.kernels.size(), -1);
}

std::vector<Step> steps_of(const Entry& entry, const Step& repeat) {
  return steps_between(entry, repeat.begin, repeat.end, repeat.repeat);
}

ExprBuilder::ExprBuilder(Kernel& kernel) : kernel_(kernel) { link(64); }

void ExprBuilder::link(size_t chains) {
  while (chains < kernel_.exprs.size()) chains *= 2;
  heads_.assign(chains, -1);
  next_.clear();
  for (const Expr& expr : kernel_.exprs) push(hash_of(expr));
}

void ExprBuilder::push(size_t hash) {
  ExprId& head = heads_[chain_of(hash)];
  head = next_.push_back(head);
}

// The upper bits of the hash, because the lower ones of float constants are mostly zeros.
size_t ExprBuilder::chain_of(size_t hash) const { return (hash >> 16) & (heads_.size() - 1); }

ExprId ExprBuilder::add(Expr expr) {
  const size_t hash = hash_of(expr);
  for (ExprId id = heads_[chain_of(hash)]; id >= 0; id = next_[id]) {
    if (same(kernel_.exprs[id], expr)) return id;
  }
  const ExprId id = kernel_.exprs.push_back(std::move(expr));
  push(hash);
  if (kernel_.exprs.size() > heads_.size()) link(heads_.size());
  return id;
}

ExprId ExprBuilder::constant(Number value) {
  Expr expr;
  expr.kind = ExprKind::Constant;
  expr.dtype = value.dtype;
  expr.constant = value;
  return add(std::move(expr));
}

ExprId ExprBuilder::index(Affine value) {
  if (value.is_constant()) return constant(Number::of(static_cast<int32_t>(value.offset)));
  Expr expr;
  expr.kind = ExprKind::Index;
  expr.dtype = DType::I32;
  expr.address = std::move(value);
  return add(std::move(expr));
}

ExprId ExprBuilder::load(BufferRef buffer, DType dtype, Affine address, std::vector<Guard> guards) {
  Expr expr;
  expr.kind = ExprKind::Load;
  expr.dtype = dtype;
  expr.buffer = buffer;
  expr.address = std::move(address);
  expr.guards = std::move(guards);
  return add(std::move(expr));
}

ExprId ExprBuilder::load(BufferRef buffer, DType dtype, Affine address, std::vector<Guard> guards,
                         ExprId index, Lookup lookup) {
  Expr expr;
  expr.kind = ExprKind::Load;
  expr.dtype = dtype;
  expr.buffer = buffer;
  expr.address = std::move(address);
  expr.guards = std::move(guards);
  expr.lookup = lookup;
  expr.operands[0] = index;
  return add(std::move(expr));
}

ExprId ExprBuilder::apply(Op op, std::initializer_list<ExprId> operands) {
  return apply(op, operands.begin(), static_cast<int>(operands.size()));
}

ExprId ExprBuilder::apply(Op op, const ExprId* operands, int count) {
  LATHE_CHECK(count == scalar::info(op).arity);
  Expr expr;
  expr.kind = ExprKind::Apply;
  expr.op = op;
  DType dtypes[scalar::kMaxArity];
  for (int i = 0; i < count; ++i) {
    expr.operands[i] = operands[i];
    dtypes[i] = kernel_.exprs[operands[i]].dtype;
  }
  const auto dtype = scalar::result_dtype(op, dtypes);
  LATHE_CHECK(dtype.has_value());
  expr.dtype = *dtype;
  return add(std::move(expr));
}

ExprId ExprBuilder::rarely(ExprId condition, ExprId x, ExprId y) {
  Expr expr;
  expr.kind = ExprKind::Apply;
  expr.op = Op::Select;
  expr.dtype = kernel_.exprs[x].dtype;
  expr.rare = true;
  expr.operands = {condition, x, y};
  return add(std::move(expr));
}

ExprId ExprBuilder::reduce(Op op, ExprId operand) {
  Expr expr;
  expr.kind = ExprKind::Reduce;
  expr.dtype = kernel_.exprs[operand].dtype;
  expr.op = op;
  expr.operands[0] = operand;
  return add(std::move(expr));
}

ExprId ExprBuilder::cast(ExprId operand, DType dtype) {
  if (kernel_.exprs[operand].dtype == dtype) return operand;
  Expr expr;
  expr.kind = ExprKind::Cast;
  expr.dtype = dtype;
  expr.operands[0] = operand;
  return add(std::move(expr));
}

Stmt for_loop(VarId var, LoopKind kind, std::vector<Stmt> body) {
  Stmt stmt;
  stmt.kind = StmtKind::For;
  stmt.var = var;
  stmt.loop = kind;
  stmt.body = std::move(body);
  return stmt;
}

Stmt store(BufferRef buffer, Affine address, ExprId value) {
  Stmt stmt;
  stmt.kind = StmtKind::Store;
  stmt.buffer = buffer;
  stmt.address = std::move(address);
  stmt.value = value;
  return stmt;
}

Stmt store(BufferRef buffer, Affine address, ExprId index, Lookup lookup, ExprId value) {
  Stmt stmt = store(buffer, std::move(address), value);
  stmt.index = index;
  stmt.lookup = lookup;
  return stmt;
}

Stmt if_inside(std::vector<Guard> guards, std::vector<Stmt> body) {
  Stmt stmt;
  stmt.kind = StmtKind::If;
  stmt.guards = std::move(guards);
  stmt.body = std::move(body);
  return stmt;
}

Stmt when(ExprId condition, std::vector<Stmt> body) {
  Stmt stmt;
  stmt.kind = StmtKind::When;
  stmt.value = condition;
  stmt.body = std::move(body);
  return stmt;
}

Stmt barrier() {
  Stmt stmt;
  stmt.kind = StmtKind::Barrier;
  return stmt;
}

}  // namespace lathe::loop
