// One loop kernel -> one compute shader: Grid loops become workgroups, Group loops the threads of
// one. What is in a Subgroup loop is executed by each thread for its own subgroup. All other loops
// stay loops, Vector loops of any width among them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lathe/base/result.h"
#include "lathe/emit/wgsl/bindings.h"
#include "lathe/emit/wgsl/limits.h"
#include "lathe/emit/wgsl/syntax.h"
#include "lathe/loop/loop.h"

namespace lathe::emit_wgsl {

struct Kernel {
  std::string name;
  std::string code;  // its entry point is `main`
  bool uses_f16 = false;
  std::vector<Binding> bindings;  // of group 0
  uint32_t groups_x = 0, groups_y = 0;
  std::vector<Copy> before, after;
  uint64_t scratch_end = 0;  // of the copies
};

// Equal kernels on other buffers get equal code: it names buffers by their bindings.
class KernelEmitter {
 public:
  // Scratch memory from `free` on is at the disposal of the kernel.
  KernelEmitter(const loop::Module& module, const Layout& layout, const loop::Kernel& kernel,
                const Limits& limits, uint64_t free)
      : module_(module),
        kernel_(kernel),
        limits_(limits),
        bindings_(module, layout, kernel, limits, free) {}

  // Rejects kernels beyond the limits or that a WebGPU device may reject.
  Result<Kernel> emit();

 private:
  void find_launch();
  Status check_limits() const;
  std::string declarations() const;
  bool uses_f16() const;
  void entry_point();
  void positions(std::string_view number, const std::vector<loop::VarId>& vars);

  // Statements
  void line(std::string_view text);
  void open(std::string_view text);
  void close();
  void emit_body(const std::vector<loop::Stmt>& stmts);
  void emit_loop(const loop::Stmt& stmt);
  void emit_store(const loop::Stmt& stmt);
  void emit_when(const loop::Stmt& stmt);
  void write_exprs(const loop::Stmt& stmt);

  // Expressions
  std::vector<loop::ExprId> find_uses(const loop::Stmt& stmt);
  bool is_named(loop::ExprId id, loop::ExprId root) const;
  std::string expression(loop::ExprId id);
  std::string constant(loop::ExprId id, const loop::Number& number);
  std::string load(const loop::Expr& expr);
  std::string cast(const loop::Expr& expr);
  std::string apply(const loop::Expr& expr, std::span<const std::string> operands);
  std::string loaded(loop::BufferRef buffer, loop::DType dtype, const std::string& at);
  std::string stored(loop::BufferRef buffer, loop::DType dtype, const std::string& at,
                     std::string value);
  std::string position(loop::BufferRef buffer, const loop::Affine& address,
                       const loop::Lookup& lookup, loop::ExprId index) const;
  std::string call(const Function& function, std::string_view arguments);
  std::string affine(const loop::Affine& form) const;
  std::string conditions(std::span<const loop::Guard> guards) const;
  std::string var(loop::VarId id) const;
  std::string buffer(loop::BufferRef ref) const;
  bool is_atomic(const Bindings::Access& access) const;

  const loop::Module& module_;
  const loop::Kernel& kernel_;
  const Limits& limits_;
  const Bindings bindings_;
  std::vector<loop::VarId> grid_, group_;
  const std::vector<loop::Stmt>* body_ = nullptr;  // inside them
  std::string code_, indent_;
  std::vector<std::string> functions_;  // that it calls, of its bindings
  bool uses_subgroups_ = false, in_subgroup_ = false;

  // Of the statement that is being emitted
  struct Use {
    int count = 0;
    int depth = 0;           // operations nested below
    bool must_vary = false;  // a constant that must not meet another in a constant expression
    std::string text;
  };
  std::vector<Use> uses_;
  std::vector<std::string> lets_;
};

}  // namespace lathe::emit_wgsl
