#include "lathe/loop/text/print.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "lathe/base/sort.h"
#include "lathe/base/text.h"
#include "lathe/loop/rebuild.h"
#include "lathe/loop/text/syntax.h"

namespace lathe::loop {

namespace {

constexpr int kMaxPrintedDepth = 40;  // operations nested in one printed expression

template <class T>
bool has(const std::vector<T>& items, int64_t id) {
  return id >= 0 && id < static_cast<int64_t>(items.size());
}

void append_name_of(std::string& out, const std::vector<Buffer>& buffers, int32_t id) {
  if (has(buffers, id)) {
    append_name(out, buffers[id].name);
  } else {
    append(out, '?', id);
  }
}

void append_type(std::string& out, const Buffer& buffer) {
  append_name(out, buffer.name);
  append(out, " : ", scalar::text(buffer.dtype), '[', buffer.size, ']');
}

struct NestedTerm {
  int depth;  // of the loop of its variable
  Term term;
};

bool further_out(const NestedTerm& a, const NestedTerm& b) {
  return std::pair(a.depth, a.term.var) < std::pair(b.depth, b.term.var);
}

class KernelPrinter {
 public:
  KernelPrinter(const Kernel& kernel, const Module& module, std::string& out, std::string indent)
      : kernel_(kernel),
        module_(module),
        out_(out),
        indent_(std::move(indent)),
        depth_of_var_(kernel.vars.size(), -1),
        states_(kernel.exprs.size()) {}

  void print() {
    append(out_, indent_, "kernel ");
    append_name(out_, kernel_.name);
    if (kernel_.origin >= 0) append(out_, " origin ", kernel_.origin);
    if (!kernel_.part.empty()) {
      out_ += " part ";
      append_name(out_, kernel_.part);
    }
    if (!kernel_.rereads.empty()) out_ += " rereads";
    for (size_t i = 0; i < kernel_.rereads.size(); ++i) {
      out_ += i > 0 ? ", " : " ";
      append_name_of(out_, module_.buffers, kernel_.rereads[i]);
    }
    out_ += " {\n";
    for (const Buffer& buffer : kernel_.registers) {
      append(out_, indent_, "  register ");
      append_type(out_, buffer);
      out_ += '\n';
    }
    for (const Buffer& buffer : kernel_.shared) {
      append(out_, indent_, "  ", kSharedWord, ' ');
      append_type(out_, buffer);
      out_ += '\n';
    }
    body(kernel_.body);
    append(out_, indent_, "}\n");
  }

 private:
  // The state of an expression while its statement is printed.
  struct ExprState {
    int uses = 0;
    int depth = 0;
    int name = -1;  // of its `let`
  };

  void body(const std::vector<Stmt>& stmts) {
    indent_ += "  ";
    for (const Stmt& stmt : stmts) {
      switch (stmt.kind) {
        case StmtKind::For:
          for_loop(stmt);
          break;
        case StmtKind::Store:
          store(stmt);
          break;
        case StmtKind::If:
          append(out_, indent_, "if ");
          guards(stmt.guards);
          out_ += " {\n";
          body(stmt.body);
          append(out_, indent_, "}\n");
          break;
        case StmtKind::When:
          when(stmt);
          break;
        case StmtKind::Barrier:
          append(out_, indent_, kBarrierWord, '\n');
          break;
      }
    }
    indent_.resize(indent_.size() - 2);
  }

  void for_loop(const Stmt& stmt) {
    append(out_, indent_, "for ");
    var(stmt.var);
    append(out_, " in ", has(kernel_.vars, stmt.var) ? kernel_.vars[stmt.var].extent : 0);
    if (const std::string_view word = schedule_word(stmt.loop); !word.empty()) {
      append(out_, ' ', word);
    }
    if (stmt.grain != 1) append(out_, ' ', kGrainWord, ' ', stmt.grain);
    if (stmt.outlined) append(out_, ' ', kOutlinedWord);
    out_ += " {\n";
    const int outside =
        has(depth_of_var_, stmt.var) ? std::exchange(depth_of_var_[stmt.var], depth_++) : depth_++;
    body(stmt.body);
    --depth_;
    if (has(depth_of_var_, stmt.var)) depth_of_var_[stmt.var] = outside;
    append(out_, indent_, "}\n");
  }

  void store(const Stmt& stmt) {
    const std::vector<ExprId> order = lets(stmt);
    out_ += indent_;
    const auto last = static_cast<ExprId>(kernel_.exprs.size());
    access(stmt.buffer, stmt.address, stmt.lookup, stmt.index, last, {});
    out_ += " = ";
    operand(stmt.value, last);
    out_ += '\n';
    for (const ExprId id : order) states_[id] = {};
  }

  void when(const Stmt& stmt) {
    const std::vector<ExprId> order = lets(stmt);
    append(out_, indent_, kWhenWord, ' ');
    operand(stmt.value, static_cast<ExprId>(kernel_.exprs.size()));
    out_ += " {\n";
    for (const ExprId id : order) states_[id] = {};
    body(stmt.body);
    append(out_, indent_, "}\n");
  }

  // Names what the statement uses more than once; what it computes, operands first.
  std::vector<ExprId> lets(const Stmt& stmt) {
    std::vector<ExprId> order;
    for_each_root(stmt, [&](ExprId id) {
      if (has(kernel_.exprs, id)) visit(id, order);
    });
    int names = 0;
    for (const ExprId id : order) {
      const Expr& expr = kernel_.exprs[id];
      ExprState& state = states_[id];
      if (expr.kind == ExprKind::Constant || expr.kind == ExprKind::Index) continue;
      for (int i = 0; i < expr.operand_count(); ++i) {
        if (!comes_before(expr.operands[i], id)) continue;
        const ExprState& operand = states_[expr.operands[i]];
        if (operand.name < 0) state.depth = std::max(state.depth, operand.depth + 1);
      }
      if ((state.uses < 2 && state.depth < kMaxPrintedDepth) || id == stmt.value) continue;
      append(out_, indent_, "let %", names, " = ");
      expression(id);
      out_ += '\n';
      state.name = names++;
    }
    return order;
  }

  static std::string_view schedule_word(LoopKind kind) {
    switch (kind) {
      case LoopKind::Serial:
        return "";
      case LoopKind::Unroll:
        return kUnrollWord;
      case LoopKind::Vector:
        return kVectorWord;
      case LoopKind::Grid:
        return kGridWord;
      case LoopKind::Group:
        return kGroupWord;
      case LoopKind::Subgroup:
        return kSubgroupWord;
      case LoopKind::Parallel:
        return kParallelWord;
    }
    return "";
  }

  // Counts uses below id and lists operands before their users.
  void visit(ExprId id, std::vector<ExprId>& order) {
    if (states_[id].uses++ > 0) return;
    const Expr& expr = kernel_.exprs[id];
    for (int i = 0; i < expr.operand_count(); ++i) {
      if (comes_before(expr.operands[i], id)) visit(expr.operands[i], order);
    }
    order.push_back(id);
  }

  static bool comes_before(ExprId operand, ExprId user) { return operand >= 0 && operand < user; }

  void operand(ExprId id, ExprId user) {
    if (!comes_before(id, user)) {
      append(out_, '?', id);
    } else if (states_[id].name >= 0) {
      append(out_, '%', states_[id].name);
    } else {
      expression(id);
    }
  }

  void expression(ExprId id) {
    const Expr& expr = kernel_.exprs[id];
    switch (expr.kind) {
      case ExprKind::Constant:
        append_number(out_, expr.constant);
        return;
      case ExprKind::Index:
        out_ += "index(";
        affine(expr.address);
        out_ += ')';
        return;
      case ExprKind::Load:
        access(expr.buffer, expr.address, expr.lookup, expr.operands[0], id, expr.guards);
        return;
      case ExprKind::Apply:
        append(out_, expr.rare ? kRarelyWord : scalar::info(expr.op).text, '(');
        break;
      case ExprKind::Cast:
        append(out_, "cast<", scalar::text(expr.dtype), ">(");
        break;
      case ExprKind::Reduce:
        append(out_, kReduceWord, '<', scalar::info(expr.op).text, ">(");
        break;
    }
    for (int i = 0; i < expr.operand_count(); ++i) {
      if (i > 0) out_ += ", ";
      operand(expr.operands[i], id);
    }
    out_ += ')';
  }

  void access(BufferRef buffer, const Affine& address, const Lookup& lookup, ExprId index,
              ExprId user, const std::vector<Guard>& conditions) {
    if (buffer.space == Space::Global && is_hidden(buffer)) out_ += "global ";
    append_name_of(out_, buffers_in(buffer.space, module_, kernel_), buffer.id);
    out_ += '[';
    affine(address);
    if (lookup) {
      append(out_, ' ', kLookupWord, ' ', lookup.scale, " * ");
      operand(index, user);
      append(out_, " < ", lookup.extent);
    }
    if (!conditions.empty()) {
      out_ += " if ";
      guards(conditions);
    }
    out_ += ']';
  }

  // Whether a buffer of the kernel has the name of this global one.
  bool is_hidden(BufferRef buffer) const {
    if (!has(module_.buffers, buffer.id)) return false;
    const auto hides = [&](const Buffer& local) {
      return local.name == module_.buffers[buffer.id].name;
    };
    return std::ranges::any_of(kernel_.registers, hides) ||
           std::ranges::any_of(kernel_.shared, hides);
  }

  void guards(const std::vector<Guard>& conditions) {
    for (bool first = true; const Guard& guard : conditions) {
      append(out_, first ? "" : ", ", "0 <= ");
      affine(guard.index);
      append(out_, " < ", guard.extent);
      first = false;
    }
  }

  // Terms come in the order of the loops around them, so that numbering of variables never shows.
  void affine(const Affine& form) {
    std::vector<NestedTerm> terms;
    for (const Term& term : form.terms) terms.push_back({depth_of(term.var), term});
    sort_by(terms, further_out);
    bool first = true;
    for (const auto& [depth, term] : terms) {
      sign(term.coefficient, first);
      const uint64_t factor = magnitude(term.coefficient);
      if (factor != 1) append(out_, factor, '*');
      var(term.var);
      first = false;
    }
    if (form.offset == 0 && !first) return;
    sign(form.offset, first);
    append(out_, magnitude(form.offset));
  }

  void sign(int64_t number, bool first) {
    if (first) {
      if (number < 0) out_ += '-';
    } else {
      out_ += number < 0 ? " - " : " + ";
    }
  }

  static uint64_t magnitude(int64_t number) {
    const auto bits = static_cast<uint64_t>(number);
    return number < 0 ? uint64_t{0} - bits : bits;
  }

  int depth_of(VarId id) const { return has(depth_of_var_, id) ? depth_of_var_[id] : -1; }

  void var(VarId id) {
    if (has(kernel_.vars, id)) {
      append_name(out_, kernel_.vars[id].name);
    } else {
      append(out_, '?', id);
    }
  }

  const Kernel& kernel_;
  const Module& module_;
  std::string& out_;
  std::string indent_;
  int depth_ = 0;
  std::vector<int> depth_of_var_;  // -1 outside its loop
  std::vector<ExprState> states_;
};

void append_data(std::string& out, const Buffer& buffer) {
  const size_t step = scalar::size_of(buffer.dtype);
  out += " {";
  for (size_t at = 0; at + step <= buffer.data.size(); at += step) {
    if (at > 0) out += ", ";
    append_number(out, scalar::load_element(buffer.dtype, &buffer.data[at]));
  }
  out += '}';
}

void append_ports(std::string& out, std::string_view what, const std::vector<Port>& ports,
                  const Module& module) {
  for (const Port& port : ports) {
    append(out, what);
    append_quoted(out, port.name);
    append(out, ' ', bracketed(port.shape), ' ');
    append_name_of(out, module.buffers, port.buffer);
    out += '\n';
  }
}

void append_steps(std::string& out, const Entry& entry, const std::vector<Step>& steps,
                  const Module& module, const std::string& indent) {
  for (const Step& step : steps) {
    if (step.repeat < 0) {
      KernelPrinter(entry.kernels[step.begin], module, out, indent).print();
      continue;
    }
    const Repeat& repeat = entry.repeats[step.repeat];
    append(out, indent, "repeat ", repeat.times);
    if (repeat.condition >= 0) {
      out += " while ";
      append_name_of(out, module.buffers, repeat.condition);
    }
    out += " {\n";
    append_steps(out, entry, steps_of(entry, step), module, indent + "  ");
    append(out, indent, "}\n");
  }
}

}  // namespace

std::string print(const Kernel& kernel, const Module& module) {
  std::string out;
  KernelPrinter(kernel, module, out, "").print();
  return out;
}

std::string print(const Module& module) {
  std::string out;
  for (const Buffer& buffer : module.buffers) {
    out += "buffer ";
    append_type(out, buffer);
    append(out, ' ', text(buffer.role));
    if (buffer.role == BufferRole::Constant) append_data(out, buffer);
    out += '\n';
  }
  append_ports(out, "state ", module.states, module);
  for (const Entry& entry : module.entries) {
    out += "entry ";
    append_name(out, entry.name);
    out += " {\n";
    append_ports(out, "  input ", entry.inputs, module);
    append_ports(out, "  output ", entry.outputs, module);
    append_steps(out, entry, steps_of(entry), module, "  ");
    out += "}\n";
  }
  return out;
}

}  // namespace lathe::loop
