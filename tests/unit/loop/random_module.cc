#include "random_module.h"

#include <algorithm>
#include <random>

#include "lathe/base/text.h"
#include "lathe/loop/analysis/bounds.h"
#include "lathe/loop/analysis/interpret.h"
#include "lathe/loop/rebuild.h"

namespace lathe::loop {

namespace {

class Generator {
 public:
  Generator(uint32_t seed, Types types, int64_t lanes)
      : random_(seed),
        repeats_(seed % 5 == 4),
        types_{DType::Bool, DType::I32, DType::F32},
        lanes_(lanes) {
    if (types == Types::OfShaders) return;
    types_.clear();
    for (const DType dtype : scalar::kDTypes) {
      if (!scalar::is_half(dtype)) types_.push_back(dtype);
    }
  }

  Module run() {
    const int entries = number(1, 2);
    for (int e = 0; e < entries; ++e) {
      module_.entries.push_back({concat("entry", e), {}, {}, {}});
      const int kernels = number(1, 3);
      for (int k = 0; k < kernels; ++k) {
        Kernel kernel;
        kernel.name = concat("kernel ", k);
        if (chance(2)) kernel.origin = number(0, 9);
        kernel_ = &kernel;
        ranges_.clear();
        home_.clear();
        kernel.body = body(0);
        for_each_store(kernel.body, [&](const Stmt& stmt) {
          if (stmt.buffer.space == Space::Global) kernel.reread(stmt.buffer);
        });
        module_.entries.back().kernels.push_back(std::move(kernel));
      }
      if (repeats_) repeat(module_.entries.back());
    }
    for (Buffer& buffer : module_.buffers) fill_constant(buffer);
    add_ports();
    return std::move(module_);
  }

 private:
  int number(int low, int high) { return std::uniform_int_distribution(low, high)(random_); }
  bool chance(int one_in) { return number(1, one_in) == 1; }
  // Of values.
  DType any_type() {
    return types_[static_cast<size_t>(number(0, static_cast<int>(types_.size()) - 1))];
  }

  // The last kernels, and the last of them more often.
  void repeat(Entry& entry) {
    const int kernels = static_cast<int>(entry.kernels.size());
    entry.repeats = {{number(0, 3), -1}, {2, 0}};
    for (int k = number(0, kernels - 1); k < kernels; ++k) {
      entry.kernels[static_cast<size_t>(k)].repeat = k == kernels - 1 ? 1 : 0;
    }
  }

  std::vector<Stmt> body(int depth) {
    std::vector<Stmt> stmts;
    const int count = chance(3) ? 2 : 1;
    for (int i = 0; i < count; ++i) {
      if (depth < 3 && !chance(depth + 2)) {
        stmts.push_back(loop_over(depth));
      } else if (depth > 0 && chance(6) && !in_vector_) {
        stmts.push_back(chance(2) ? random_when(depth) : random_if(depth));
      } else {
        stmts.push_back(random_store());
      }
    }
    return stmts;
  }

  Stmt random_if(int depth) {
    Stmt stmt;
    stmt.kind = StmtKind::If;
    stmt.guards.push_back({address(), number(1, 20)});
    stmt.body = body(depth + 1);
    return stmt;
  }

  // Registers that it sets may stay unset.
  Stmt random_when(int depth) {
    constexpr int kNowhere = -1;
    ExprBuilder builder(*kernel_);
    const ExprId condition = builder.cast(expression(builder), DType::Bool);
    const size_t before = home_.size();
    std::vector<Stmt> inside = body(depth + 1);
    for (size_t i = before; i < home_.size(); ++i) home_[i] = kNowhere;
    return when(condition, std::move(inside));
  }

  Stmt loop_over(int depth) {
    const int kind = in_vector_ ? 1 : number(0, 5);
    const VarId var = kernel_->add_var(chance(8) ? "for" : "i", kind == 0   ? lanes_
                                                                : kind == 1 ? number(1, 3)
                                                                            : number(1, 11));
    if (kind > 1 && depth < 2 && chance(20)) kernel_->vars[var].extent = 70;
    ranges_.resize(kernel_->vars.size());
    ranges_[var] = Range{0, kernel_->vars[var].extent - 1};
    loops_.push_back({var, kind <= 1});
    if (kind == 0) in_vector_ = true;
    const bool outlined = kind == 2 && chance(4);
    const int outer = function_;
    if (outlined) function_ = ++functions_;
    Stmt stmt = for_loop(var,
                         kind == 0   ? LoopKind::Vector
                         : kind == 1 ? LoopKind::Unroll
                                     : LoopKind::Serial,
                         kind == 0 ? vector_body() : body(depth + 1));
    if (kind == 0) in_vector_ = false;
    stmt.outlined = outlined;
    function_ = outer;
    loops_.pop_back();
    ranges_[var].reset();
    return stmt;
  }

  std::vector<Stmt> vector_body() {
    std::vector<Stmt> stmts;
    for (int i = number(1, 2); i > 0; --i) stmts.push_back(random_store());
    if (chance(3)) stmts.push_back(loop_over(4));
    return stmts;
  }

  // Row-major over the loops around, sometimes without some of them or scaled.
  Affine address(size_t begin = 0, size_t end = 99, bool unrolled_only = false) {
    Affine sum;
    int64_t step = 1;
    for (size_t i = std::min(end, loops_.size()); i-- > begin;) {
      if (unrolled_only && !loops_[i].unrolled) continue;
      if (chance(6)) continue;
      sum += Affine::variable(loops_[i].var, step);
      step *= kernel_->vars[loops_[i].var].extent;
      if (chance(10)) ++step;
    }
    if (chance(5)) sum += Affine(number(0, 5));
    return sum;
  }

  // A buffer of this dtype that the address fits into.
  BufferRef fit(DType dtype, Affine& address, bool stored) {
    const Range range = *range_of(address, {}, ranges_);
    address += Affine(range.low < 0 ? -range.low : 0);
    const int64_t size = range.high - std::min<int64_t>(range.low, 0) + 1;
    const bool fresh = (stored && in_vector_) || chance(4);
    for (size_t id = 0; id < module_.buffers.size() && !fresh; ++id) {
      Buffer& buffer = module_.buffers[id];
      const bool read_only =
          buffer.role == BufferRole::Input || buffer.role == BufferRole::Constant;
      if (buffer.dtype != dtype || (stored && read_only) || (!stored && stored_by_lanes_[id])) {
        continue;
      }
      if (stored && in_vector_) continue;
      if (chance(2)) continue;
      buffer.size = std::max(buffer.size, size);
      return {Space::Global, static_cast<int32_t>(id)};
    }
    constexpr BufferRole kWritableRoles[] = {BufferRole::Output, BufferRole::State,
                                             BufferRole::Temporary};
    const auto role = stored ? kWritableRoles[number(0, 2)] : static_cast<BufferRole>(number(0, 4));
    const size_t id = module_.buffers.size();
    module_.buffers.push_back({concat(chance(3) ? "b " : "b", id), dtype, size, role, {}});
    stored_by_lanes_.push_back(stored && in_vector_);
    return {Space::Global, static_cast<int32_t>(id)};
  }

  Stmt random_store() {
    ExprBuilder builder(*kernel_);
    const ExprId value = expression(builder);
    const DType dtype = kernel_->exprs[value].dtype;
    if (!in_vector_ && chance(6)) {
      const Affine at = address(0, 99, /*unrolled_only=*/true);
      const int64_t size = range_of(at, {}, ranges_)->high + 1;
      const std::string name = chance(2)                 ? "register"
                               : module_.buffers.empty() ? "r"
                                                         : module_.buffers[0].name;
      home_.push_back(function_);
      return store(kernel_->add_register(name, dtype, size), at, value);
    }
    Affine at;
    if (in_vector_) {
      int64_t step = 1;
      for (size_t i = loops_.size(); i-- > 0;) {
        at += Affine::variable(loops_[i].var, step);
        step *= kernel_->vars[loops_[i].var].extent;
      }
    } else {
      at = address();
    }
    return store(fit(dtype, at, /*stored=*/true), at, value);
  }

  ExprId expression(ExprBuilder& builder) {
    std::vector<ExprId> pool;
    for (int i = number(1, 3); i > 0; --i) pool.push_back(leaf(builder));
    for (int i = number(0, 8); i > 0; --i) {
      const auto pick = [&] { return pool[number(0, static_cast<int>(pool.size()) - 1)]; };
      if (chance(6)) {
        pool.push_back(builder.cast(pick(), any_type()));
        continue;
      }
      const auto op = static_cast<Op>(number(0, scalar::kOpCount - 1));
      ExprId operands[scalar::kMaxArity];
      DType dtypes[scalar::kMaxArity];
      const int arity = scalar::info(op).arity;
      for (int k = 0; k < arity; ++k) {
        operands[k] = pick();
        dtypes[k] = builder[operands[k]].dtype;
      }
      const bool computes =
          op == Op::Select || std::all_of(dtypes, dtypes + arity, scalar::is_computed);
      if (computes && scalar::result_dtype(op, dtypes)) {
        const bool rare = op == Op::Select && operands[1] % 2 == 0;
        pool.push_back(rare ? builder.rarely(operands[0], operands[1], operands[2])
                            : builder.apply(op, operands, arity));
      }
    }
    return pool.back();
  }

  ExprId leaf(ExprBuilder& builder) {
    const DType dtype = chance(2) ? DType::F32 : any_type();
    switch (number(0, 5)) {
      case 0: {
        constexpr double kSpecial[] = {0, -0.0, 1e30, -1, 3, 1.0 / 3};
        return builder.constant(Number::from(dtype, kSpecial[number(0, 5)]));
      }
      case 1:
        return builder.index(address());
      case 2:
        if (!kernel_->registers.empty()) {
          const int id = number(0, static_cast<int>(kernel_->registers.size()) - 1);
          if (home_[id] != function_) break;
          return builder.load({Space::Register, id}, kernel_->registers[id].dtype,
                              number(0, static_cast<int>(kernel_->registers[id].size) - 1));
        }
        break;
      case 3: {
        const size_t middle = loops_.size() / 2;
        Affine row = address(0, middle), column = address(middle);
        row += Affine(number(-3, 1));
        const int64_t rows = number(1, 9), columns = number(1, 9);
        Affine at = row * columns + column;
        Affine all(rows * columns - 1);
        const BufferRef buffer = fit(dtype, all, /*stored=*/false);
        return builder.load(buffer, dtype, at, {{row, rows}, {column, columns}});
      }
      default:
        break;
    }
    Affine at = address();
    if (chance(6)) {
      const Lookup lookup{number(0, 3), number(1, 5)};
      const ExprId lookup_index = builder.index(address() + Affine(number(-2, 2)));
      Affine furthest = at + Affine(lookup.scale * (lookup.extent - 1));
      const int64_t offset = furthest.offset;
      const BufferRef buffer = fit(dtype, furthest, /*stored=*/false);
      at += Affine(furthest.offset - offset);
      return builder.load(buffer, dtype, at, {}, lookup_index, lookup);
    }
    const BufferRef buffer = fit(dtype, at, /*stored=*/false);
    return builder.load(buffer, dtype, at);
  }

  void fill_constant(Buffer& buffer) {
    if (buffer.role != BufferRole::Constant) return;
    const size_t step = scalar::size_of(buffer.dtype);
    std::vector<std::byte> data(buffer.size * step);
    for (size_t at = 0; at < data.size(); at += step) {
      const Number value = Number::from(buffer.dtype, number(-9, 9) / 8.0);
      scalar::store_element(&data[at], value);
    }
    buffer.data = std::move(data);
  }

  void add_ports() {
    for (size_t id = 0; id < module_.buffers.size(); ++id) {
      const Buffer& buffer = module_.buffers[id];
      const Port port{concat("port \"", id), {1, buffer.size}, static_cast<int32_t>(id)};
      if (buffer.role == BufferRole::Input) module_.entries[0].inputs.push_back(port);
      if (buffer.role == BufferRole::Output) module_.entries[0].outputs.push_back(port);
      if (buffer.role == BufferRole::State) module_.states.push_back(port);
    }
  }

  struct Around {
    VarId var;
    bool unrolled;
  };

  std::mt19937 random_;
  const bool repeats_;
  std::vector<DType> types_;
  const int64_t lanes_;
  Module module_;
  Kernel* kernel_ = nullptr;
  std::vector<Around> loops_;
  VarRanges ranges_;
  std::vector<bool> stored_by_lanes_;  // by buffer
  std::vector<int> home_;              // by register: the outlined loop that uses it
  int function_ = 0, functions_ = 0;   // outlined loop around, and how many there are
  bool in_vector_ = false;
};

}  // namespace

Module random_module(uint32_t seed, Types types, int64_t lanes) {
  return Generator(seed, types, lanes).run();
}

std::vector<std::string> outcome(const Module& module, uint32_t seed) {
  std::mt19937 random(seed);
  Memory memory(module);
  for (size_t id = 0; id < module.buffers.size(); ++id) {
    const Buffer& buffer = module.buffers[id];
    if (buffer.role == BufferRole::Constant) continue;
    const auto bytes = memory.bytes(static_cast<int32_t>(id));
    const size_t step = scalar::size_of(buffer.dtype);
    for (size_t at = 0; at < bytes.size(); at += step) {
      const double value = static_cast<double>(random() % 65) / 16 - 2;
      const Number number = Number::from(buffer.dtype, value);
      scalar::store_element(&bytes[at], number);
    }
  }
  std::vector<std::string> result;
  for (const Entry& entry : module.entries) {
    if (const Status status = run(module, entry.name, memory); !status) {
      result.push_back(status.error().message);
    }
  }
  for (size_t id = 0; id < module.buffers.size(); ++id) {
    if (module.buffers[id].role == BufferRole::Temporary) continue;
    const auto bytes = memory.bytes(static_cast<int32_t>(id));
    result.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return result;
}

}  // namespace lathe::loop
