#include "loop/interpret.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "base/text.h"

namespace lathe::loop {

Memory::Memory(const Module& module) {
  for (const Buffer& buffer : module.buffers) {
    Storage storage{buffer.dtype, buffer.data};
    storage.bytes.resize(buffer.size * scalar::size_of(buffer.dtype));
    buffers_.push_back(std::move(storage));
  }
}

class Interpreter {
 public:
  Interpreter(const Module& module, const Kernel& kernel, Memory& memory)
      : module_(module),
        kernel_(kernel),
        memory_(memory),
        vars_(kernel.vars.size(), 0),
        values_(kernel.exprs.size()) {
    for (const Buffer& buffer : kernel.registers) registers_.push_back(spoiled(buffer));
  }

  static Memory::Storage spoiled(const Buffer& buffer) {
    const auto filler = buffer.dtype == DType::Bool ? std::byte{1} : std::byte{0xff};
    return {buffer.dtype, std::vector(buffer.size * scalar::size_of(buffer.dtype), filler)};
  }

  static void spoil_temporaries(const Module& module, Memory& memory) {
    for (size_t id = 0; id < module.buffers.size(); ++id) {
      if (module.buffers[id].role == BufferRole::Temporary) {
        memory.buffers_[id] = spoiled(module.buffers[id]);
      }
    }
  }

  Status run(const std::vector<Stmt>& stmts) {
    for (const Stmt& stmt : stmts) {
      switch (stmt.kind) {
        case StmtKind::For:
          for (int64_t i = 0; i < kernel_.vars[stmt.var].extent; ++i) {
            vars_[stmt.var] = i;
            TRY(run(stmt.body));
          }
          break;
        case StmtKind::Store:
          TRY(store(stmt));
          break;
        case StmtKind::If:
          if (hold(stmt.guards)) TRY(run(stmt.body));
          break;
      }
    }
    return {};
  }

 private:
  Status store(const Stmt& stmt) {
    for (const ExprId id : order_of(stmt)) {
      ASSIGN_OR_RETURN(values_[id], value_of(kernel_.exprs[id]));
    }
    ASSIGN_OR_RETURN(std::byte* const place, locate(stmt.buffer, stmt.address, "store to "));
    const Number& value = values_[stmt.value];
    std::memcpy(place, &value.i, scalar::size_of(value.dtype));
    return {};
  }

  // What the statement computes, operands first.
  const std::vector<ExprId>& order_of(const Stmt& stmt) {
    auto [place, fresh] = orders_.try_emplace(&stmt);
    if (fresh) {
      std::vector<bool> used(kernel_.exprs.size(), false);
      used[stmt.value] = true;
      for (ExprId id = stmt.value; id >= 0; --id) {
        if (!used[id]) continue;
        const Expr& expr = kernel_.exprs[id];
        for (int i = 0; i < expr.operand_count(); ++i) used[expr.operands[i]] = true;
        place->second.push_back(id);
      }
      std::reverse(place->second.begin(), place->second.end());
    }
    return place->second;
  }

  Result<Number> value_of(const Expr& expr) {
    switch (expr.kind) {
      case ExprKind::Constant:
        return expr.constant;
      case ExprKind::Index:
        return Number::of(static_cast<int32_t>(evaluate(expr.address)));
      case ExprKind::Load:
        return load(expr);
      case ExprKind::Cast:
        return scalar::cast(values_[expr.operands[0]], expr.dtype);
      case ExprKind::Apply:
        break;
    }
    Number operands[scalar::kMaxArity];
    for (int i = 0; i < expr.operand_count(); ++i) operands[i] = values_[expr.operands[i]];
    return scalar::evaluate(expr.op, operands);
  }

  Result<Number> load(const Expr& expr) {
    Number value = Number::from(expr.dtype, 0);
    if (!hold(expr.guards)) return value;
    ASSIGN_OR_RETURN(const std::byte* const place, locate(expr.buffer, expr.address, "load from "));
    std::memcpy(&value.i, place, scalar::size_of(expr.dtype));
    return value;
  }

  Result<std::byte*> locate(BufferRef ref, const Affine& address, std::string_view what) {
    const bool global = ref.space == Space::Global;
    const Buffer& buffer = global ? module_.buffers[ref.id] : kernel_.registers[ref.id];
    const int64_t at = evaluate(address);
    if (at < 0 || at >= buffer.size) {
      return fail(concat("kernel ", kernel_.name, ": ", what, buffer.name, '[', at, "] outside ",
                         scalar::text(buffer.dtype), '[', buffer.size, ']'));
    }
    Memory::Storage& storage = global ? memory_.buffers_[ref.id] : registers_[ref.id];
    return storage.bytes.data() + at * scalar::size_of(storage.dtype);
  }

  bool hold(const std::vector<Guard>& guards) const {
    return std::all_of(guards.begin(), guards.end(), [&](const Guard& guard) {
      const int64_t index = evaluate(guard.index);
      return 0 <= index && index < guard.extent;
    });
  }

  int64_t evaluate(const Affine& affine) const {
    int64_t sum = affine.offset;
    for (const Term& term : affine.terms) sum += term.coefficient * vars_[term.var];
    return sum;
  }

  const Module& module_;
  const Kernel& kernel_;
  Memory& memory_;
  std::vector<int64_t> vars_;
  std::vector<Number> values_;
  std::vector<Memory::Storage> registers_;
  std::unordered_map<const Stmt*, std::vector<ExprId>> orders_;
};

Status run(const Module& module, std::string_view entry_name, Memory& memory) {
  for (const Entry& entry : module.entries) {
    if (entry.name != entry_name) continue;
    Interpreter::spoil_temporaries(module, memory);
    for (const Kernel& kernel : entry.kernels) {
      TRY(Interpreter(module, kernel, memory).run(kernel.body));
    }
    return {};
  }
  return fail(concat("the module has no entry ", entry_name));
}

}  // namespace lathe::loop
