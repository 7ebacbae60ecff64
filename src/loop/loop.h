// The loop IR: kernels of loop nests that store scalar expressions into buffers. A schedule (vector
// lanes, unrolling, register tiles, outlined functions, grids of threads) is annotated in the nest
// but never changes its meaning: every loop may be executed serially, in order; only the threads of
// a group meet at barriers. It knows no target.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lathe/base/shared_bytes.h"
#include "lathe/base/table.h"
#include "lathe/loop/affine.h"
#include "lathe/scalar/op.h"

namespace lathe::loop {

using scalar::DType;
using scalar::Number;
using scalar::Op;
using ExprId = int32_t;
using BufferId = int32_t;

// Of a Vector loop: the extent of its variable. Which of these a target has is up to it.
constexpr bool is_vector_width(int64_t lanes) {
  return lanes >= 2 && lanes <= 16 && (lanes & (lanes - 1)) == 0;
}

// Threads of a subgroup: a power of two, which need not be known when a kernel is compiled.
inline constexpr int64_t kMinSubgroup = 4, kMaxSubgroup = 128;

enum class Space : uint8_t {
  Global,     // linear memory; its lifetime depends on its BufferRole
  Register,   // inside one kernel and one outlined body; addresses depend on Unroll and Vector
              // variables only; lanes, as many in all Vector loops that address it, are stored to
              // aligned vectors, and read contiguously from any address or across as many vectors
              // as there are lanes; private to each thread
  Workgroup,  // shared by the threads of a group, fresh in each group
};

enum class BufferRole : uint8_t {
  Input,      // set by the caller
  Output,     // read by the caller
  State,      // lives between calls; shared by all entries
  Constant,   // `data`, read-only
  Temporary,  // dead outside its entry
};

struct Buffer {
  std::string name;
  DType dtype = DType::F32;
  int64_t size = 0;                         // elements
  BufferRole role = BufferRole::Temporary;  // Global buffers only
  SharedBytes data;                         // Constant only, little-endian
};

struct BufferRef {
  Space space = Space::Global;
  BufferId id = -1;  // in Module::buffers, Kernel::registers or Kernel::shared
  bool operator==(const BufferRef&) const = default;
};

// True where 0 <= index < extent.
struct Guard {
  Affine index;
  int64_t extent = 0;
  bool operator==(const Guard&) const = default;
};

// Moves an address by scale * i, where i is an index from a buffer, moved inside 0..extent - 1.
struct Lookup {
  int64_t scale = 0;
  int64_t extent = 0;  // 0: the address is only the affine form
  explicit operator bool() const { return extent > 0; }
  bool operator==(const Lookup&) const = default;
};

enum class ExprKind : uint8_t {
  Constant,  // `constant`
  Index,     // I32 value of `address`
  Load,      // buffer[address]; zero (and no access) where a guard fails; operand 0 is the index of
             // its lookup
  Apply,   // scalar `op` over operands, all in types of arithmetic but what a Select chooses from,
           // or in F16 on targets that have it, where each result is rounded
  Cast,    // operand 0 as `dtype`
  Reduce,  // `op` (Add, Max or Min) over what all threads of the subgroup have as operand 0, in any
           // order; f32, i32 or u32. In Subgroup loops only
};

struct Expr {
  ExprKind kind = ExprKind::Constant;
  DType dtype = DType::F32;
  Number constant;
  Affine address;
  BufferRef buffer;
  std::vector<Guard> guards;
  Lookup lookup;  // Load from a Global buffer only
  Op op = Op::Add;
  bool rare = false;  // a Select whose condition is rarely true: targets may branch around the
                      // operand that it then chooses
  std::array<ExprId, scalar::kMaxArity> operands = {-1, -1, -1};

  int operand_count() const;
};
bool same(const Expr& a, const Expr& b);

enum class StmtKind : uint8_t {
  For,      // for var in 0..extent of var: body
  Store,    // buffer[address] = value; all loads of the value happen first
  If,       // body where every guard is true
  When,     // body where the Bool `value`, computed before it, is true
  Barrier,  // every thread of the group arrives before one goes on; what they wrote to Workgroup
            // buffers is seen by all. Between the tasks of a kernel: all before it are done
};

enum class LoopKind : uint8_t {
  Serial,
  Unroll,  // the body is duplicated for each value
  Vector,  // all iterations at once, is_vector_width() many; the body contains only Stores and
           // Unroll loops, and no iteration reads what another stores
  Grid,    // iterations in any order or at once; each has private registers. Grid loops are the
           // outermost, each the only statement around it
  Group,   // threads: as Grid, right inside it; between two barriers no thread touches what another
           // stores in Workgroup buffers, in Global ones never
  Subgroup,  // inside Group loops: the subgroups that consecutive threads of the group form, of a
             // size that the device chooses. The extent is their number or more; iterations
             // beyond it are none. The body contains only Stores, each of which the threads of the
             // subgroup execute together: one to Registers each, all one to a Workgroup buffer.
             // Every thread reaches the loop
  Parallel,  // outermost, or the only statement of a Parallel loop. Each iteration is a task, and
             // so is each run of other statements of the kernel from one Parallel loop or Barrier
             // to the next. Between two Barriers tasks run in any order or at once: none touches
             // what another stores, each has private registers
};

struct Stmt {
  StmtKind kind = StmtKind::Store;
  // For
  VarId var = -1;
  LoopKind loop = LoopKind::Serial;
  bool outlined = false;  // the body is a separate function, so that an engine's optimizing tier
                          // compiles it early
  int64_t grain = 1;      // iterations of the innermost Parallel loop in one task
  // For, If, When
  std::vector<Stmt> body;
  // If
  std::vector<Guard> guards;
  // Store
  BufferRef buffer;
  Affine address;
  Lookup lookup;
  ExprId index = -1;  // of the lookup
  // Store, When
  ExprId value = -1;
};

struct Var {
  std::string name;
  int64_t extent = 0;
};

struct Kernel {
  std::string name;
  Table<BufferId, Buffer> registers;
  Table<BufferId, Buffer> shared;  // in Space::Workgroup
  Table<VarId, Var> vars;
  Table<ExprId, Expr> exprs;  // operands come before their users; equal expressions are stored once
  std::vector<Stmt> body;
  int32_t origin = -1;    // node of the entry's graph that this kernel computes
  std::string part = {};  // what it is part of, for those who measure
  int32_t repeat = -1;    // the innermost of its entry's repeats that it is in, or -1
  // Global buffers with read-after-write dependences: the kernel reads what it stored there. Of all
  // others it reads only their contents from before it ran.
  std::vector<int32_t> rereads = {};

  // A name that is in use gets a numeric suffix.
  VarId add_var(std::string name, int64_t extent);
  BufferRef add_register(std::string name, DType dtype, int64_t size);
  // From now on it may read what it stored in this Global buffer.
  void reread(BufferRef buffer);
  BufferRef add_shared(std::string name, DType dtype, int64_t size);
};

struct Port {
  std::string name;
  std::vector<int64_t> shape;
  int32_t buffer = -1;
};

// Kernels that follow each other are run in order, that `times` times or, with a condition, until
// this global bool is false before they are.
struct Repeat {
  int64_t times = 0;
  int32_t around = -1;     // the repeat that it is in, an earlier one, or -1
  int32_t condition = -1;  // a buffer of one element
};

struct Entry {
  std::string name;
  std::vector<Port> inputs, outputs;
  std::vector<Kernel> kernels;  // run in order
  std::vector<Repeat> repeats = {};
};

bool is_inside(const Entry& entry, int32_t repeat, int32_t around);  // or is it

// Steps of an entry or, inside a repeat, of its body.
struct Step {
  size_t begin, end;    // of kernels
  int32_t repeat = -1;  // that they are run in; -1: it is one kernel, run once
};
std::vector<Step> steps_of(const Entry& entry);
std::vector<Step> steps_of(const Entry& entry, const Step& repeat);

struct Module {
  Table<BufferId, Buffer> buffers;
  std::vector<Entry> entries;
  std::vector<Port> states;
};

// The buffers that a reference of this space counts in.
const Table<BufferId, Buffer>& buffers_in(Space space, const Module& module, const Kernel& kernel);

// Builds expressions of one kernel, each distinct one once.
class ExprBuilder {
 public:
  explicit ExprBuilder(Kernel& kernel);

  ExprId constant(Number value);
  ExprId constant(float value) { return constant(Number::of(value)); }
  ExprId index(Affine value);
  ExprId load(BufferRef buffer, DType dtype, Affine address, std::vector<Guard> guards = {});
  // The same with a data-dependent I32 `index`.
  ExprId load(BufferRef buffer, DType dtype, Affine address, std::vector<Guard> guards,
              ExprId index, Lookup lookup);
  ExprId apply(Op op, std::initializer_list<ExprId> operands);
  ExprId apply(Op op, const ExprId* operands, int count);
  // select(condition, x, y) where x is expensive and rarely chosen.
  ExprId rarely(ExprId condition, ExprId x, ExprId y);
  ExprId cast(ExprId operand, DType dtype);
  ExprId reduce(Op op, ExprId operand);
  ExprId add(Expr expr);

  const Expr& operator[](ExprId id) const { return kernel_.exprs[id]; }
  Kernel& kernel() { return kernel_; }

 private:
  void link(size_t chains);
  void push(size_t hash);
  size_t chain_of(size_t hash) const;

  Kernel& kernel_;
  // A hash table over kernel_.exprs: the last expression of each chain, and for each expression the
  // one before it in its chain.
  std::vector<ExprId> heads_;
  Table<ExprId, ExprId> next_;
};

Stmt for_loop(VarId var, LoopKind kind, std::vector<Stmt> body);
Stmt store(BufferRef buffer, Affine address, ExprId value);
Stmt store(BufferRef buffer, Affine address, ExprId index, Lookup lookup, ExprId value);
Stmt if_inside(std::vector<Guard> guards, std::vector<Stmt> body);
Stmt when(ExprId condition, std::vector<Stmt> body);
Stmt barrier();

}  // namespace lathe::loop
