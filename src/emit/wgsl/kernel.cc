#include "lathe/emit/wgsl/kernel.h"

#include <algorithm>
#include <limits>

#include "lathe/base/text.h"
#include "lathe/emit/wgsl/syntax.h"
#include "lathe/loop/analysis/index_width.h"

namespace lathe::emit_wgsl {

using loop::LoopKind;
using loop::Space;
using loop::Stmt;
using loop::StmtKind;
using loop::VarId;

namespace {

// What every WebGPU device offers.
constexpr int64_t kMaxGroups = 65535;  // along one axis

int64_t product(const loop::Kernel& kernel, const std::vector<VarId>& vars) {
  int64_t count = 1;
  for (const VarId var : vars) {
    const int64_t extent = kernel.vars[static_cast<size_t>(var)].extent;
    if (__builtin_mul_overflow(count, extent, &count)) return std::numeric_limits<int64_t>::max();
  }
  return count;
}

bool contains_subgroups(const std::vector<Stmt>& stmts) {
  return std::ranges::any_of(stmts, [](const Stmt& stmt) {
    return (stmt.kind == StmtKind::For && stmt.loop == LoopKind::Subgroup) ||
           contains_subgroups(stmt.body);
  });
}

}  // namespace

Result<Kernel> KernelEmitter::emit() {
  find_launch();
  uses_subgroups_ = contains_subgroups(*body_);
  entry_point();
  LATHE_TRY(loop::check_index_width(kernel_));
  LATHE_TRY(check_limits());
  const int64_t groups = product(kernel_, group_) > 0 ? product(kernel_, grid_) : 0;
  Kernel result;
  result.name = kernel_.name;
  result.bindings = bindings_.list();
  result.before = bindings_.before();
  result.after = bindings_.after();
  result.scratch_end = bindings_.scratch_end();
  if (groups > 0) {
    result.groups_x = static_cast<uint32_t>(std::min(groups, kMaxGroups));
    result.groups_y = static_cast<uint32_t>((groups + kMaxGroups - 1) / kMaxGroups);
  }
  result.uses_f16 = uses_f16();
  if (uses_subgroups_) result.code = "enable subgroups;\n";
  result.code += declarations();
  for (const std::string& function : functions_) result.code += function;
  result.code += functions_of(code_);
  append(result.code, '\n', code_);
  return result;
}

void KernelEmitter::find_launch() {
  body_ = &kernel_.body;
  while (body_->size() == 1 && body_->front().kind == StmtKind::For) {
    const Stmt& stmt = body_->front();
    if (stmt.loop != LoopKind::Grid && stmt.loop != LoopKind::Group) return;
    (stmt.loop == LoopKind::Grid ? grid_ : group_).push_back(stmt.var);
    body_ = &stmt.body;
  }
}

Status KernelEmitter::check_limits() const {
  const auto reject = [&](const auto&... parts) {
    return fail(concat("kernel ", kernel_.name, ": ", parts...));
  };
  for (const Binding& binding : bindings_.list()) {
    if (binding.region.bytes <= static_cast<uint64_t>(limits_.binding_bytes)) continue;
    return reject("it binds ", binding.region.bytes, " bytes of ", text(binding.region.holder),
                  "; the device binds ", limits_.binding_bytes);
  }
  int64_t shared = 0;
  for (const loop::Buffer& buffer : kernel_.shared) {
    shared += buffer.size * (buffer.dtype == loop::DType::F16 ? 2 : 4);
  }
  if (shared > limits_.shared_bytes) {
    return reject("its groups share ", shared, " bytes; the device has ", limits_.shared_bytes);
  }
  if (product(kernel_, group_) > limits_.threads) {
    return reject("a group has ", product(kernel_, group_), " threads; the device has ",
                  limits_.threads);
  }
  if (uses_subgroups_ && limits_.subgroup_threads == 0) {
    return reject("it reduces in subgroups; the device has none");
  }
  const int64_t groups = product(kernel_, grid_);
  if (groups > std::min<int64_t>(kMaxGroups * kMaxGroups, std::numeric_limits<int32_t>::max())) {
    return reject("it needs ", groups, " groups, more than WebGPU starts");
  }
  return {};
}

bool KernelEmitter::uses_f16() const {
  return std::ranges::any_of(kernel_.exprs,
                             [](const loop::Expr& expr) { return expr.dtype == loop::DType::F16; });
}

std::string KernelEmitter::declarations() const {
  std::string out = uses_f16() ? "enable f16;\n" : "";
  for (int number = 0; const Binding& binding : bindings_.list()) {
    append(out, "@group(0) @binding(", number, ") var<storage, ",
           binding.is_read_write() ? "read_write" : "read", "> b", number, " : array<",
           binding.is_atomic ? "atomic<u32>" : binding.type, ">;\n");
    ++number;
  }
  for (size_t id = 0; id < kernel_.shared.size(); ++id) {
    append(out, "var<workgroup> ", buffer({Space::Workgroup, static_cast<int32_t>(id)}),
           " : array<", value_type(kernel_.shared[id].dtype), ", ",
           std::max<int64_t>(kernel_.shared[id].size, 1), ">;\n");
  }
  return out;
}

void KernelEmitter::entry_point() {
  const int64_t groups = product(kernel_, grid_);
  append(code_, "@compute @workgroup_size(", std::max<int64_t>(product(kernel_, group_), 1),
         ")\nfn main(@builtin(workgroup_id) workgroup : vec3u, ",
         "@builtin(local_invocation_index) local : u32",
         uses_subgroups_ ? ", @builtin(subgroup_id) subgroup : u32, "
                           "@builtin(subgroup_invocation_id) lane : u32"
                         : "",
         ") {\n");
  indent_ = "  ";
  if (!grid_.empty())
    line(concat("let group = i32(workgroup.x + workgroup.y * ", kMaxGroups, "u);"));
  if (groups > kMaxGroups && groups % kMaxGroups != 0) {
    line(concat("if (group >= ", groups, ") { return; }"));
  }
  if (!group_.empty()) line("let thread = i32(local);");
  positions("group", grid_);
  positions("thread", group_);
  for (size_t id = 0; id < kernel_.registers.size(); ++id) {
    line(concat("var ", buffer({Space::Register, static_cast<int32_t>(id)}), " : array<",
                value_type(kernel_.registers[id].dtype), ", ",
                std::max<int64_t>(kernel_.registers[id].size, 1), ">;"));
  }
  emit_body(*body_);
  code_ += "}\n";
}

// The loops' variables from the number of the group or thread, which counts the innermost fastest.
void KernelEmitter::positions(std::string_view number, const std::vector<VarId>& vars) {
  int64_t step = product(kernel_, vars);
  for (const VarId id : vars) {
    const int64_t extent = kernel_.vars[static_cast<size_t>(id)].extent;
    const bool outermost = id == vars.front();
    step = extent > 0 ? step / extent : 1;
    line(concat("let ", var(id), " = ", number, step > 1 ? concat(" / ", step) : "",
                outermost ? "" : concat(" % ", std::max<int64_t>(extent, 1)), ';'));
  }
}

void KernelEmitter::line(std::string_view text) { append(code_, indent_, text, '\n'); }

void KernelEmitter::open(std::string_view text) {
  line(text);
  indent_ += "  ";
}

void KernelEmitter::close() {
  indent_.resize(indent_.size() - 2);
  line("}");
}

void KernelEmitter::emit_body(const std::vector<Stmt>& stmts) {
  for (const Stmt& stmt : stmts) {
    switch (stmt.kind) {
      case StmtKind::For:
        emit_loop(stmt);
        break;
      case StmtKind::Store:
        emit_store(stmt);
        break;
      case StmtKind::If:
        open(concat("if (", conditions(stmt.guards), ") {"));
        emit_body(stmt.body);
        close();
        break;
      case StmtKind::When:
        emit_when(stmt);
        break;
      case StmtKind::Barrier:
        line("workgroupBarrier();");
        break;
    }
  }
}

void KernelEmitter::emit_loop(const Stmt& stmt) {
  const std::string name = var(stmt.var);
  if (stmt.loop == LoopKind::Subgroup) {
    open("{");
    line(concat("let ", name, " = i32(subgroup);"));
    in_subgroup_ = true;
    emit_body(stmt.body);
    in_subgroup_ = false;
    return close();
  }
  open(concat("for (var ", name, " = 0; ", name, " < ",
              kernel_.vars[static_cast<size_t>(stmt.var)].extent, "; ", name, "++) {"));
  emit_body(stmt.body);
  close();
}

// Values that several expressions share are named inside a separate block.
void KernelEmitter::write_exprs(const Stmt& stmt) {
  lets_.clear();
  for (const loop::ExprId id : find_uses(stmt)) {
    Use& use = uses_[static_cast<size_t>(id)];
    use.text = expression(id);
    if (!is_named(id, stmt.value)) continue;
    lets_.push_back(concat("let e", id, " = ", use.text, ';'));
    use.text = concat('e', id);
  }
}

void KernelEmitter::emit_when(const Stmt& stmt) {
  write_exprs(stmt);
  const bool names = !lets_.empty();
  if (names) open("{");
  for (const std::string& let : lets_) line(let);
  open(concat("if (", uses_[static_cast<size_t>(stmt.value)].text, ") {"));
  emit_body(stmt.body);
  close();
  if (names) close();
}

void KernelEmitter::emit_store(const Stmt& stmt) {
  write_exprs(stmt);
  std::string store = stored(stmt.buffer, kernel_.exprs[static_cast<size_t>(stmt.value)].dtype,
                             position(stmt.buffer, stmt.address, stmt.lookup, stmt.index),
                             uses_[static_cast<size_t>(stmt.value)].text);
  if (in_subgroup_ && stmt.buffer.space == Space::Workgroup) {
    store = concat("if (lane == 0u) { ", store, " }");
  }
  if (lets_.empty()) return line(store);
  open("{");
  for (const std::string& let : lets_) line(let);
  line(store);
  close();
}

}  // namespace lathe::emit_wgsl
