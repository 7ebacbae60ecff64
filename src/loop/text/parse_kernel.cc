// Reads kernels: statements, expressions, affine forms.
#include <limits>

#include "lathe/base/text.h"
#include "lathe/loop/text/parser.h"
#include "lathe/loop/text/syntax.h"

namespace lathe::loop {

namespace {

constexpr int kMaxNesting = 200;  // nested statements or expressions

class KernelParser {
 public:
  KernelParser(TokenReader& reader, const Module& module, const BufferNames& names)
      : reader_(reader), module_(module), names_(names), builder_(kernel_) {}

  Result<Kernel> parse() {
    LATHE_ASSIGN_OR_RETURN(kernel_.name, reader_.name());
    LATHE_ASSIGN_OR_RETURN(const bool has_origin, reader_.accept("origin"));
    if (has_origin) {
      LATHE_ASSIGN_OR_RETURN(const int64_t origin, reader_.count());
      if (origin > std::numeric_limits<int32_t>::max())
        return reader_.error_at_previous("origin too large");
      kernel_.origin = static_cast<int32_t>(origin);
    }
    LATHE_ASSIGN_OR_RETURN(const bool has_part, reader_.accept("part"));
    if (has_part) {
      LATHE_ASSIGN_OR_RETURN(kernel_.part, reader_.name());
    }
    LATHE_ASSIGN_OR_RETURN(bool rereads, reader_.accept("rereads"));
    while (rereads) {
      LATHE_ASSIGN_OR_RETURN(const int32_t buffer, global_buffer());
      kernel_.rereads.push_back(buffer);
      LATHE_ASSIGN_OR_RETURN(rereads, reader_.accept(","));
    }
    LATHE_TRY(reader_.expect("{"));
    while (reader_.sees("register")) LATHE_TRY(local_buffer(Space::Register, kernel_.registers));
    while (reader_.sees(kSharedWord)) LATHE_TRY(local_buffer(Space::Workgroup, kernel_.shared));
    LATHE_ASSIGN_OR_RETURN(kernel_.body, body());
    return std::move(kernel_);
  }

 private:
  Result<int32_t> global_buffer() {
    LATHE_ASSIGN_OR_RETURN(const std::string name, reader_.name());
    const auto buffer = names_.find(name);
    if (buffer == names_.end()) return reader_.error_at_previous(concat("no buffer named ", name));
    return buffer->second;
  }

  Status local_buffer(Space space, std::vector<Buffer>& buffers) {
    LATHE_TRY(reader_.advance());
    LATHE_ASSIGN_OR_RETURN(Buffer buffer, reader_.buffer());
    const BufferRef ref{space, static_cast<int32_t>(buffers.size())};
    if (!local_buffers_.try_emplace(buffer.name, ref).second) {
      return reader_.error_at_previous(concat("a second register named ", buffer.name));
    }
    buffers.push_back(std::move(buffer));
    return {};
  }

  // Statements up to and with the closing brace.
  Result<std::vector<Stmt>> body() {
    if (++depth_ > kMaxNesting) return reader_.error("statements nested too deeply");
    std::vector<Stmt> stmts;
    while (true) {
      LATHE_ASSIGN_OR_RETURN(const bool done, reader_.accept("}"));
      if (done) break;
      if (reader_.sees("let")) {
        LATHE_TRY(let());
        continue;
      }
      LATHE_ASSIGN_OR_RETURN(Stmt stmt, reader_.sees("for")          ? for_loop()
                                        : reader_.sees("if")         ? condition()
                                        : reader_.sees(kWhenWord)    ? when_stmt()
                                        : reader_.sees(kBarrierWord) ? barrier_stmt()
                                                                     : store());
      stmts.push_back(std::move(stmt));
    }
    --depth_;
    return stmts;
  }

  Result<Stmt> for_loop() {
    LATHE_TRY(reader_.advance());
    LATHE_ASSIGN_OR_RETURN(std::string name, reader_.name());
    LATHE_TRY(reader_.expect("in"));
    LATHE_ASSIGN_OR_RETURN(const int64_t extent, reader_.count());
    Stmt stmt;
    stmt.kind = StmtKind::For;
    if (reader_.sees(kVectorWord)) stmt.loop = LoopKind::Vector;
    if (reader_.sees(kUnrollWord)) stmt.loop = LoopKind::Unroll;
    if (reader_.sees(kGridWord)) stmt.loop = LoopKind::Grid;
    if (reader_.sees(kGroupWord)) stmt.loop = LoopKind::Group;
    if (reader_.sees(kSubgroupWord)) stmt.loop = LoopKind::Subgroup;
    if (reader_.sees(kParallelWord)) stmt.loop = LoopKind::Parallel;
    if (stmt.loop != LoopKind::Serial) LATHE_TRY(reader_.advance());
    LATHE_ASSIGN_OR_RETURN(const bool has_grain, reader_.accept(kGrainWord));
    if (has_grain) {
      LATHE_ASSIGN_OR_RETURN(stmt.grain, reader_.count());
    }
    LATHE_ASSIGN_OR_RETURN(stmt.outlined, reader_.accept(kOutlinedWord));
    LATHE_TRY(reader_.expect("{"));
    stmt.var = static_cast<VarId>(kernel_.vars.size());
    kernel_.vars.push_back({std::move(name), extent});
    scope_.push_back(stmt.var);
    LATHE_ASSIGN_OR_RETURN(stmt.body, body());
    scope_.pop_back();
    return stmt;
  }

  Result<Stmt> condition() {
    LATHE_TRY(reader_.advance());
    LATHE_ASSIGN_OR_RETURN(std::vector<Guard> conditions, guards());
    LATHE_TRY(reader_.expect("{"));
    LATHE_ASSIGN_OR_RETURN(std::vector<Stmt> stmts, body());
    return if_inside(std::move(conditions), std::move(stmts));
  }

  Result<Stmt> when_stmt() {
    LATHE_TRY(reader_.advance());
    LATHE_ASSIGN_OR_RETURN(const ExprId value, expression());
    lets_.clear();
    LATHE_TRY(reader_.expect("{"));
    LATHE_ASSIGN_OR_RETURN(std::vector<Stmt> stmts, body());
    return when(value, std::move(stmts));
  }

  Result<Stmt> barrier_stmt() {
    LATHE_TRY(reader_.advance());
    return barrier();
  }

  Status let() {
    LATHE_TRY(reader_.advance());
    LATHE_TRY(reader_.expect("%"));
    LATHE_ASSIGN_OR_RETURN(const int64_t name, reader_.count());
    LATHE_TRY(reader_.expect("="));
    LATHE_ASSIGN_OR_RETURN(lets_[name], expression());
    return {};
  }

  Result<Stmt> store() {
    LATHE_ASSIGN_OR_RETURN(const Expr target, access());
    if (!target.guards.empty()) return reader_.error("a store has no guards; use if");
    LATHE_TRY(reader_.expect("="));
    LATHE_ASSIGN_OR_RETURN(const ExprId value, expression());
    lets_.clear();
    return loop::store(target.buffer, target.address, target.operands[0], target.lookup, value);
  }

  Result<ExprId> expression() {
    if (++depth_ > kMaxNesting) return reader_.error("expressions nested too deeply");
    LATHE_ASSIGN_OR_RETURN(const ExprId id, any_expression());
    --depth_;
    return id;
  }

  Result<ExprId> any_expression() {
    const Token& token = reader_.token();
    if (reader_.sees("%")) return use_of_let();
    if (reader_.sees("cast") || reader_.sees(kReduceWord)) return cast_or_access();
    if (reader_.sees("index")) return index();
    const bool is_word =
        reader_.sees("true") || reader_.sees("false") || reader_.sees("inf") || reader_.sees("nan");
    if (is_word || reader_.sees("-") || token.kind == TokenKind::Integer ||
        token.kind == TokenKind::Float) {
      LATHE_ASSIGN_OR_RETURN(const Number value, reader_.number());
      return builder_.constant(value);
    }
    if (token.kind == TokenKind::Name && !reader_.sees("global")) {
      const bool rare = token.text == kRarelyWord;
      const auto op = rare ? Op::Select : scalar::op_of(token.text);
      LATHE_ASSIGN_OR_RETURN(std::string name, reader_.name());
      if (reader_.sees("(")) return apply(op, name, rare);
      return load_of(std::move(name), /*global=*/false);
    }
    return load();
  }

  Result<ExprId> use_of_let() {
    LATHE_TRY(reader_.advance());
    LATHE_ASSIGN_OR_RETURN(const int64_t name, reader_.count());
    const auto found = lets_.find(name);
    if (found == lets_.end()) return reader_.error_at_previous(concat("no let %", name, " before"));
    return found->second;
  }

  Result<ExprId> cast_or_access() {
    LATHE_ASSIGN_OR_RETURN(std::string name, reader_.name());
    if (!reader_.sees("<")) return load_of(std::move(name), /*global=*/false);
    LATHE_TRY(reader_.advance());
    const bool reduces = name == kReduceWord;
    const auto op = scalar::op_of(reader_.token().text);
    const auto dtype = scalar::dtype_of(reader_.token().text);
    if (reduces && !op) return reader_.error("expected a scalar operation");
    if (!reduces && !dtype) return reader_.error("expected an element type");
    LATHE_TRY(reader_.advance());
    LATHE_TRY(reader_.expect(">"));
    LATHE_TRY(reader_.expect("("));
    LATHE_ASSIGN_OR_RETURN(const ExprId operand, expression());
    LATHE_TRY(reader_.expect(")"));
    return reduces ? builder_.reduce(*op, operand) : builder_.cast(operand, *dtype);
  }

  Result<ExprId> index() {
    LATHE_TRY(reader_.advance());
    LATHE_TRY(reader_.expect("("));
    Expr expr;
    expr.kind = ExprKind::Index;
    expr.dtype = DType::I32;
    LATHE_ASSIGN_OR_RETURN(expr.address, affine());
    LATHE_TRY(reader_.expect(")"));
    return builder_.add(std::move(expr));
  }

  Result<ExprId> apply(std::optional<Op> op, const std::string& name, bool rare) {
    if (!op) return reader_.error_at_previous(concat("no scalar operation ", name));
    LATHE_TRY(reader_.advance());
    ExprId operands[scalar::kMaxArity];
    DType dtypes[scalar::kMaxArity];
    const int arity = scalar::info(*op).arity;
    for (int i = 0; i < arity; ++i) {
      if (i > 0) LATHE_TRY(reader_.expect(","));
      LATHE_ASSIGN_OR_RETURN(operands[i], expression());
      dtypes[i] = builder_[operands[i]].dtype;
    }
    LATHE_TRY(reader_.expect(")"));
    if (!scalar::result_dtype(*op, dtypes)) {
      std::string types;
      for (int i = 0; i < arity; ++i) append(types, i > 0 ? ", " : "", scalar::text(dtypes[i]));
      return reader_.error_at_previous(concat(name, " does not accept (", types, ")"));
    }
    if (rare) return builder_.rarely(operands[0], operands[1], operands[2]);
    return builder_.apply(*op, operands, arity);
  }

  Result<ExprId> load() {
    LATHE_ASSIGN_OR_RETURN(Expr expr, access());
    return builder_.add(std::move(expr));
  }

  Result<ExprId> load_of(std::string name, bool global) {
    LATHE_ASSIGN_OR_RETURN(Expr expr, access_of(name, global));
    return builder_.add(std::move(expr));
  }

  Result<Expr> access() {
    LATHE_ASSIGN_OR_RETURN(const bool global, reader_.accept("global"));
    LATHE_ASSIGN_OR_RETURN(const std::string name, reader_.name());
    return access_of(name, global);
  }

  Result<Expr> access_of(const std::string& name, bool global) {
    Expr expr;
    expr.kind = ExprKind::Load;
    const auto local = local_buffers_.find(name);
    const auto buffer = names_.find(name);
    if (!global && local != local_buffers_.end()) {
      expr.buffer = local->second;
    } else if (buffer != names_.end()) {
      expr.buffer = {Space::Global, buffer->second};
    } else {
      return reader_.error_at_previous(concat("no buffer named ", name));
    }
    expr.dtype = buffers_in(expr.buffer.space, module_, kernel_)[expr.buffer.id].dtype;
    LATHE_TRY(reader_.expect("["));
    LATHE_ASSIGN_OR_RETURN(expr.address, affine());
    LATHE_ASSIGN_OR_RETURN(const bool looks_up, reader_.accept(kLookupWord));
    if (looks_up) {
      LATHE_ASSIGN_OR_RETURN(expr.lookup.scale, reader_.count());
      LATHE_TRY(reader_.expect("*"));
      LATHE_ASSIGN_OR_RETURN(expr.operands[0], expression());
      LATHE_TRY(reader_.expect("<"));
      LATHE_ASSIGN_OR_RETURN(expr.lookup.extent, reader_.count());
      if (!expr.lookup) return reader_.error_at_previous("a lookup with extent 0");
    }
    LATHE_ASSIGN_OR_RETURN(const bool guarded, reader_.accept("if"));
    if (guarded) {
      LATHE_ASSIGN_OR_RETURN(expr.guards, guards());
    }
    LATHE_TRY(reader_.expect("]"));
    return expr;
  }

  Result<std::vector<Guard>> guards() {
    std::vector<Guard> result;
    for (bool more = true; more;) {
      Guard guard;
      LATHE_TRY(reader_.expect("0"));
      LATHE_TRY(reader_.expect("<="));
      LATHE_ASSIGN_OR_RETURN(guard.index, affine());
      LATHE_TRY(reader_.expect("<"));
      LATHE_ASSIGN_OR_RETURN(guard.extent, reader_.count());
      result.push_back(std::move(guard));
      LATHE_ASSIGN_OR_RETURN(more, reader_.accept(","));
    }
    return result;
  }

  Result<Affine> affine() {
    Affine result;
    LATHE_ASSIGN_OR_RETURN(bool negative, reader_.accept("-"));
    while (true) {
      LATHE_TRY(term(negative ? -1 : 1, result));
      if (!reader_.sees("+") && !reader_.sees("-")) return result;
      negative = reader_.sees("-");
      LATHE_TRY(reader_.advance());
    }
  }

  // number, var or number*var
  Status term(int64_t factor, Affine& sum) {
    if (reader_.token().kind == TokenKind::Integer) {
      LATHE_ASSIGN_OR_RETURN(const int64_t number, reader_.count());
      factor *= number;
      LATHE_ASSIGN_OR_RETURN(const bool times, reader_.accept("*"));
      if (!times) return add(sum, factor);
    }
    LATHE_ASSIGN_OR_RETURN(const std::string name, reader_.name());
    for (size_t i = scope_.size(); i-- > 0;) {
      if (kernel_.vars[scope_[i]].name == name) {
        return add(sum, Affine::variable(scope_[i], factor));
      }
    }
    return reader_.error_at_previous(concat("no loop variable named ", name));
  }

  // Rejects sums that may overflow when another is added.
  Status add(Affine& sum, const Affine& term) {
    constexpr int64_t kLargest = int64_t{1} << 62;
    sum += term;
    const int64_t changed = term.is_constant() ? sum.offset : sum.coefficient(term.terms[0].var);
    if (changed > kLargest || changed < -kLargest) return reader_.error("number too large");
    return {};
  }

  TokenReader& reader_;
  const Module& module_;
  const BufferNames& names_;
  std::unordered_map<std::string, BufferRef> local_buffers_;  // registers and shared buffers
  Kernel kernel_;
  ExprBuilder builder_;
  std::vector<VarId> scope_;
  std::unordered_map<int64_t, ExprId> lets_;
  int depth_ = 0;
};

}  // namespace

Result<Kernel> parse_kernel(TokenReader& reader, const Module& module, const BufferNames& names) {
  return KernelParser(reader, module, names).parse();
}

}  // namespace lathe::loop
