// One loop kernel -> WebAssembly functions: loops become loops with a counter, registers become
// locals, Vector loops become SIMD instructions, outlined loop bodies become separate functions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "lathe/emit/wasm/addresses.h"
#include "lathe/emit/wasm/origins.h"
#include "lathe/emit/wasm/task_order.h"
#include "lathe/loop/analysis/pairs.h"
#include "lathe/loop/loop.h"
#include "lathe/wasm/assembler.h"

namespace lathe::emit_wasm {

// What the engine that will run the module offers beyond WebAssembly 1.0.
struct Target {
  bool simd = true;
  bool relaxed_simd = false;
  bool threads = false;
};

// Functions (task: i32) -> () to call one after the other, for every task below `count`.
struct Tasks {
  std::vector<uint32_t> functions;
  uint32_t count = 1;
};
// What threads may do in any order or at once.
using Phase = std::vector<Tasks>;

// A function whose parameters are these bases; it has no results.
struct Callee {
  uint32_t function = 0;
  std::vector<int32_t> bases = {};
};

// Pushes a base that the caller of threads.begin has stored for the threads: i32 number `base`
// after the control block.
void load_base(wasm::FunctionBuilder& code, int32_t base);

class KernelEmitter {
 public:
  KernelEmitter(wasm::ModuleBuilder& module_builder, const loop::Module& module,
                const loop::Kernel& kernel, const Placement& placement, Target target,
                std::vector<Origin>* origins = nullptr);

  // The function that runs the kernel.
  Callee emit();
  // The kernel for several threads, which find bases in the memory: each phase waits for the one
  // before it.
  std::vector<Phase> emit_phases(TaskOrder& order);

 private:
  // One function under construction.
  struct Scope {
    wasm::FunctionBuilder* function = nullptr;
    std::vector<loop::VarId> nest;                       // open Serial and Parallel loops
    std::map<InductionVariable, uint32_t> inductions;    // local of each form that is alive
    std::map<int32_t, std::vector<uint32_t>> registers;  // locals of each register buffer
    std::map<wasm::V128, uint32_t> constants;            // local of each vector
    // What the open innermost loop does not change: vectors of values, and the bytes that lookups
    // add, by index, extent and bytes a step.
    std::map<loop::ExprId, uint32_t> splats;
    std::map<std::tuple<loop::ExprId, int64_t, int64_t>, uint32_t> lookups;
    int open_loops = 0;
    std::map<wasm::ValType, std::vector<uint32_t>> free_locals;
  };

  wasm::FunctionBuilder& code() { return *scope_.function; }
  uint32_t acquire(wasm::ValType type);
  void release(wasm::ValType type, uint32_t local);

  std::set<int32_t> bases_used() const;

  // Statements
  void emit_body(std::span<const loop::Stmt> body);
  void emit_stmt(const loop::Stmt& stmt);
  void emit_kind(const loop::Stmt& stmt);
  void mark_origin();
  void emit_loop(const loop::Stmt& stmt);
  void emit_serial(const loop::Stmt& stmt);
  std::set<InductionVariable> open_loop(const loop::Stmt& stmt, std::optional<uint32_t> start = {});
  void close_loop(const std::set<InductionVariable>& moving);
  void emit_iterations(const loop::Stmt& stmt, bool outlined,
                       const std::set<InductionVariable>& moving, uint32_t counter);
  void hoist_constants(const loop::Stmt& stmt);
  void release_constants();
  void hoist_invariants(const loop::Stmt& loop);
  void release_invariants();
  int64_t bytes_of(loop::BufferRef buffer, const loop::Lookup& lookup) const;
  void emit_outlined_call(const loop::Stmt& stmt);
  void emit_unrolled(const loop::Stmt& stmt);
  void emit_if(const loop::Stmt& stmt);
  void emit_when(const loop::Stmt& stmt);
  void emit_conditional(std::span<const loop::Stmt> body);
  void emit_store(const loop::Stmt& stmt);
  void store_global(const loop::Stmt& stmt);
  void store_global_lanes(const loop::Stmt& stmt);
  void store_register(const loop::Stmt& stmt);
  void begin_statement(const loop::Stmt& stmt);
  void end_statement();

  // Tasks
  void begin_task();
  Tasks emit_task(std::span<const loop::Stmt> stmts);
  Tasks emit_parallel(const loop::Stmt& outermost, TaskOrder& order);
  uint32_t emit_count(const loop::Stmt& loop, uint32_t start);

  // Addresses
  SplitAddress split(const loop::Affine& affine, int64_t scale) const;
  void push_induction_variable(const InductionVariable& induction);
  void push_index(const loop::Affine& index);  // without the lane's part
  // `lookup`: a local with the bytes that a lookup adds.
  wasm::MemArg push_address(loop::BufferRef buffer, const loop::Affine& address,
                            std::optional<uint32_t> lookup = std::nullopt);
  bool is_inside(loop::ExprId index, int64_t extent) const;
  uint32_t save_lookup(loop::BufferRef buffer, const loop::Lookup& lookup, bool inside);
  // Nothing where there is no lookup; to be released after the access.
  std::optional<uint32_t> look_up(loop::BufferRef buffer, const loop::Lookup& lookup,
                                  loop::ExprId index);
  // The indices of all lanes in a local, where they differ; then the bytes of each lane.
  std::optional<uint32_t> lane_indices(const loop::Lookup& lookup, loop::ExprId index);
  std::optional<uint32_t> look_up_lane(loop::BufferRef buffer, const loop::Lookup& lookup,
                                       loop::ExprId index, std::optional<uint32_t> indices,
                                       uint8_t lane);
  void release(wasm::ValType type, std::optional<uint32_t> local);
  // False if a guard is statically false, true if all are statically true; otherwise pushes
  // their conjunction and returns nullopt.
  std::optional<bool> push_guards(std::span<const loop::Guard> guards);

  // Expressions
  bool lanes_open() const { return fixed_.lane >= 0; }
  bool varies(loop::ExprId id);
  void emit_scalar(loop::ExprId id);
  void emit_vector(loop::ExprId id);
  bool reload_saved(loop::ExprId id, bool vector);
  void save(loop::ExprId id, bool vector, wasm::ValType type);
  void scalar_constant(const loop::Number& number);
  void vector_constant(const loop::Number& number);
  void vector_constant(const wasm::V128& bytes);
  bool is_zero(loop::ExprId id) const;
  void computed_zero();
  void scalar_load(const loop::Expr& expr);
  void scalar_load(const loop::Expr& expr, std::optional<uint32_t> lookup);
  void scalar_load_unguarded(const loop::Expr& expr, std::optional<uint32_t> lookup);

  // Vectors of lanes_ lanes
  void extract_lane_of(loop::DType dtype, uint8_t lane);  // vector -> scalar
  void replace_lane_of(loop::DType dtype, uint8_t lane);  // vector, scalar -> vector
  void splat_scalar(loop::DType dtype);                   // scalar -> vector
  void widen_mask(loop::DType compared);
  void narrow_mask(loop::DType chosen);
  template <class Emit>
  void for_each_lane(const Emit& emit);
  void vector_load(const loop::Expr& expr);
  void transposed_vector(loop::BufferRef buffer, int64_t first);
  void contiguous_vector(loop::BufferRef buffer, int64_t first);
  void vector_load_unguarded(const loop::Expr& expr, std::optional<uint32_t> lookup);
  void vector_load_by_lane(const loop::Expr& expr);
  void gather(const loop::Expr& expr);
  void emit_splat(loop::ExprId id);
  void vector_index(const loop::Expr& expr);
  // Vector constants that it needs in addition to its operands, if `lane` is the variable of the
  // lanes.
  std::vector<wasm::V128> constants_of(const loop::Expr& expr, loop::VarId lane) const;
  void store_vector(loop::DType dtype, wasm::MemArg at);
  // False: it is none of pairs.
  bool vector_pairs(loop::ExprId id);
  bool bits_of_pairs(const loop::Expr& expr);
  bool load_pairs(const loop::Pair& pair);
  void load_interleaved_pairs(const loop::Expr* low, const loop::Expr& high);
  std::optional<loop::VarId> var_of_next(const loop::Expr* low, const loop::Expr& high,
                                         int64_t step) const;
  void load_pair_vector(const loop::Expr& from, wasm::Opcode of_bytes, wasm::Opcode of_words);
  bool has_next(const loop::Expr* low, const loop::Expr& high);
  void save_next(const loop::Expr* low, const loop::Expr& high, loop::VarId var);
  void next_interleaved(int first);
  void drop_pairs();
  const loop::Expr* memory_operand(loop::ExprId half) const;
  bool load_shifted_pairs(const loop::Expr& expr);
  bool load_high_words(const loop::Expr& expr);

  // Casts
  void scalar_cast(const loop::Expr& expr);
  void convert_scalar(loop::DType from, loop::DType to);
  void bound_scalar(scalar::Op op, const loop::Number& bound);
  void vector_cast(const loop::Expr& expr);
  void convert_vector(loop::DType from, loop::DType to);
  void convert_lanes(loop::DType from, loop::DType to);
  void pack_low_words();

  // Operations
  void scalar_apply(const loop::Expr& expr);
  void vector_apply(const loop::Expr& expr);
  void apply_to_scalars(loop::Op op, loop::DType dtype);
  void divide_scalars(loop::DType dtype);
  void apply_to_lanes(const loop::Expr& expr);
  bool is_no_op(const loop::Expr& expr) const;
  bool emit_any_true(const loop::Expr& expr);
  bool is_never_nan(loop::ExprId id) const;
  bool emit_min_max(const loop::Expr& expr);
  bool emit_select_as_min_max(const loop::Expr& expr);
  void vector_select(const loop::Expr& expr);
  void rare_choice(const loop::Expr& expr, bool vector);
  std::vector<uint32_t>& register_locals(loop::BufferRef buffer);
  bool is_vector_register(loop::BufferRef buffer) const;
  loop::DType dtype_of(loop::BufferRef buffer) const;

  wasm::ModuleBuilder& module_builder_;
  const loop::Module& module_;
  const loop::Kernel& kernel_;
  const Placement& placement_;
  Target target_;
  const int lanes_;  // of vectors in this kernel: all have as many as those of its widest type
  std::vector<Origin>* const origins_;     // where they are recorded; null: not recorded
  const loop::Stmt* statement_ = nullptr;  // the innermost that is being emitted
  Scope scope_;
  Fixed fixed_;
  const std::vector<bool> vector_registers_;
  int outlined_count_ = 0;
  int task_count_ = 0;

  // Vectors loaded in advance for the next copy of an unrolled loop, where its variables have these
  // values.
  struct NextPairs {
    std::pair<const loop::Expr*, const loop::Expr*> of;
    std::map<loop::VarId, int64_t> at;
    uint32_t low, high;  // locals
  };
  std::optional<NextPairs> next_pairs_;
  bool conditional_ = false;  // inside an If or a When

  // Of the statement that is being emitted
  std::vector<loop::ExprId> reached_;
  std::vector<int> uses_;                    // by expression; zero unless reached
  std::vector<std::optional<bool>> varies_;  // by expression; nothing unless reached
  std::map<std::pair<loop::ExprId, bool>, std::pair<wasm::ValType, uint32_t>> saved_;
  std::vector<std::pair<loop::ExprId, bool>>* saved_in_branch_ = nullptr;  // null outside of one
};

// The low 64 bits of a vector with this number in all lanes; the high 64 bits are equal.
uint64_t half_of_vector(const loop::Number& number);
wasm::V128 vector_of(const loop::Number& number);
// A vector of i32: lane i contains i * step, its difference from the index in lane 0.
wasm::V128 steps_of_lanes(int64_t step);
// The vector constants that a cast between these types needs, in the order of their use.
std::vector<loop::Number> constants_of_cast(loop::DType from, loop::DType to);

}  // namespace lathe::emit_wasm
