// Addresses that depend on data: the bytes that a lookup adds to an address, as a local. Those that
// an innermost loop repeats can be hoisted; it owns the locals of these.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>

#include "lathe/emit/wasm/kernel_context.h"
#include "lathe/emit/wasm/locals.h"
#include "lathe/emit/wasm/statement_values.h"

namespace lathe::emit_wasm {

class ExpressionEmitter;

class LookupEmitter {
 public:
  LookupEmitter(const KernelContext& context, wasm::FunctionBuilder& code, Locals& locals,
                StatementValues& values, ExpressionEmitter& expressions)
      : context_(context),
        code_(code),
        locals_(locals),
        values_(values),
        expressions_(expressions) {}

  // Nothing where there is no lookup; to be released after the access.
  std::optional<uint32_t> look_up(loop::BufferRef buffer, const loop::Lookup& lookup,
                                  loop::ExprId index);
  // The indices of all lanes in a local, where they differ; then the bytes of each lane.
  std::optional<uint32_t> lane_indices(const loop::Lookup& lookup, loop::ExprId index);
  std::optional<uint32_t> look_up_lane(loop::BufferRef buffer, const loop::Lookup& lookup,
                                       loop::ExprId index, std::optional<uint32_t> indices,
                                       uint8_t lane);
  // Of what one of the functions above returned.
  void release(wasm::ValType type, std::optional<uint32_t> local);

  void hoist(loop::BufferRef buffer, const loop::Lookup& lookup, loop::ExprId index);
  bool is_hoisted(loop::BufferRef buffer, const loop::Lookup& lookup, loop::ExprId index) const;
  size_t hoisted_count() const { return hoisted_.size(); }
  void release_hoisted();

 private:
  // Index, extent and bytes a step.
  using Key = std::tuple<loop::ExprId, int64_t, int64_t>;
  Key key_of(loop::BufferRef buffer, const loop::Lookup& lookup, loop::ExprId index) const;
  int64_t bytes_of(loop::BufferRef buffer, const loop::Lookup& lookup) const;
  bool is_inside(loop::ExprId index, int64_t extent) const;
  uint32_t save(loop::BufferRef buffer, const loop::Lookup& lookup, bool inside);

  const KernelContext& context_;
  wasm::FunctionBuilder& code_;
  Locals& locals_;
  StatementValues& values_;
  ExpressionEmitter& expressions_;
  std::map<Key, uint32_t> hoisted_;
};

}  // namespace lathe::emit_wasm
