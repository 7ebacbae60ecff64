#include "lathe/emit/wasm/statement_values.h"

#include <algorithm>

#include "lathe/loop/rebuild.h"

namespace lathe::emit_wasm {

using loop::Expr;
using loop::ExprId;
using wasm::Opcode;
using wasm::ValType;

void StatementValues::begin(const loop::Stmt& stmt) {
  uses_.resize(context_.kernel.exprs.size());
  varies_.resize(context_.kernel.exprs.size());
  const auto use = [this](ExprId id) {
    if (uses_[id]++ == 0) reached_.push_back(id);
  };
  loop::for_each_root(stmt, use);
  for (size_t next = 0; next < reached_.size(); ++next) {
    const Expr& expr = context_.expr(reached_[next]);
    for (int i = 0; i < expr.operand_count(); ++i) use(expr.operands[i]);
  }
}

void StatementValues::end() {
  for (const auto& [key, local] : saved_) locals_.release(local.first, local.second);
  saved_.clear();
  for (const ExprId id : reached_) {
    uses_[id] = 0;
    varies_[id].reset();
  }
  reached_.clear();
}

bool StatementValues::varies(ExprId id) {
  auto& cached = varies_[id];
  if (cached) return *cached;
  const Expr& expr = context_.expr(id);
  const loop::VarId lane = addresses_.lane();
  bool result = expr.address.coefficient(lane) != 0;
  for (const loop::Guard& guard : expr.guards) {
    result = result || guard.index.coefficient(lane) != 0;
  }
  for (int i = 0; i < expr.operand_count(); ++i) result = result || varies(expr.operands[i]);
  return *(cached = result);
}

bool StatementValues::reload(ExprId id, bool vector) {
  const auto found = saved_.find({id, vector});
  if (found == saved_.end()) return false;
  code_.op_index(Opcode::local_get, found->second.second);
  return true;
}

void StatementValues::save(ExprId id, bool vector, ValType type) {
  if (uses_[id] < 2) return;
  const uint32_t local = locals_.acquire(type);
  saved_[{id, vector}] = {type, local};
  if (saved_in_branch_ != nullptr) saved_in_branch_->push_back({id, vector});
  code_.op_index(Opcode::local_tee, local);
}

void StatementValues::forget(const Key& key) {
  const auto found = saved_.find(key);
  locals_.release(found->second.first, found->second.second);
  saved_.erase(found);
}

}  // namespace lathe::emit_wasm
