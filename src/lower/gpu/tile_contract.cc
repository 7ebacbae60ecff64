// Tiles of products: a group of threads puts a stretch of both operands into workgroup memory,
// waits, and each thread adds the products of its part of the tile to sums in registers.
//
//   for rows.tile, columns.tile grid { for thread… group {
//     sums = 0
//     for stretch { fill both; barrier; for k { sums += rows[k] * columns[k] }; barrier }
//     store the sums } }
#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "lathe/base/text.h"
#include "lathe/lower/contraction.h"
#include "lathe/lower/gpu/strategies.h"
#include "lathe/lower/segments.h"

namespace lathe::lower::gpu {

using loop::Affine;
using loop::BufferRef;
using loop::ExprId;
using loop::Guard;
using loop::Kernel;
using loop::LoopKind;
using loop::Stmt;
using loop::VarId;

namespace {

// The threads of a group as mixed-radix numbers, the first part the fastest-varying. All are powers
// of two.
class Threads {
 public:
  // `bounds`: valid arguments of remainder() and quotient(), the thread number modulo and divided
  // by the bound.
  Threads(Kernel& kernel, int64_t count, std::set<int64_t> bounds) : count_(count) {
    bounds.insert({1, count});
    for (auto bound = bounds.begin(); *bound < count; ++bound) {
      const int64_t extent = *std::next(bound) / *bound;
      parts_.push_back({kernel.add_var("thread", extent), *bound});
    }
    if (parts_.empty()) parts_.push_back({kernel.add_var("thread", 1), 1});
  }

  int64_t count() const { return count_; }
  Affine remainder(int64_t bound) const {
    Affine number;
    for (const Part& part : parts_) {
      if (part.step < bound) number += Affine::variable(part.var, part.step);
    }
    return number;
  }
  Affine quotient(int64_t bound) const {
    Affine number;
    for (const Part& part : parts_) {
      if (part.step >= bound) number += Affine::variable(part.var, part.step / bound);
    }
    return number;
  }
  std::vector<Stmt> around(std::vector<Stmt> body) const {
    for (const Part& part : parts_) {
      body = single(loop::for_loop(part.var, LoopKind::Group, std::move(body)));
    }
    return body;
  }

 private:
  struct Part {
    VarId var;
    int64_t step;
  };
  int64_t count_;
  std::vector<Part> parts_;
};

// One dimension of the output: its tiles, and the part of a tile per thread.
struct Side {
  int operand;  // that depends on it
  int dimension;
  int64_t extent, tile, per_thread;
  bool is_along_depth;  // the operand is contiguous along the reduced dimension
  VarId number = -1;
  BufferRef shared = {}, next = {},
            registers =
                {};  // the tile in workgroup memory; prefetched elements; factors of the products

  Affine start() const { return Affine::variable(number, tile); }
  int64_t threads() const { return tile / per_thread; }
};

class TileLowering {
 public:
  TileLowering(Contraction& contraction, const ContractionShape& shape, const Schedule& schedule)
      : contraction_(contraction),
        schedule_(schedule),
        depth_(contraction.reduced().back()),
        rows_(side(shape.row, 1 - shape.wide, schedule.tile_rows, schedule.thread_rows)),
        columns_(side(shape.column, shape.wide, schedule.tile_columns, schedule.thread_columns)) {
    // Two rounds at once with double buffering.
    const int64_t rounds = (depth() + schedule.depth - 1) / schedule.depth;
    const int64_t turns = schedule.buffers;
    rounds_ = (rounds + turns * schedule.split - 1) / (turns * schedule.split) * turns;
    parts_ = (rounds + rounds_ - 1) / rounds_;
  }

  void run() {
    if (parts_ == 1) {
      declare_read_after_write();
      contraction_.kernel().body = tiles(contraction_.nest(), [&](const Index& index, ExprId sum) {
        return contraction_.finish(index, sum, 0, 1);
      });
      return;
    }
    EntryContext& context = contraction_.context();
    const std::string name = concat(context.graph.name, ".sums", contraction_.group().anchor().id);
    partial_ = {loop::Space::Global, context.add_buffer(name, contraction_.dtype(), parts_ * size(),
                                                        loop::BufferRole::Temporary)};
    Kernel kernel;
    kernel.origin = contraction_.kernel().origin;
    kernel.vars = contraction_.kernel().vars;
    Nest nest(context, kernel);
    part_ = kernel.add_var("part", parts_);
    kernel.body = single(
        loop::for_loop(part_, LoopKind::Grid, tiles(nest, [&](const Index& index, ExprId sum) {
                         return single(loop::store(
                             partial_, partial_address(index, Affine::variable(part_)), sum));
                       })));
    context.before.push_back(std::move(kernel));
    add_parts();
  }

 private:
  int64_t depth() const { return contraction_.extent(depth_); }

  Side side(int position, int operand, int64_t tile, int64_t per_thread) {
    const int d = contraction_.spatial()[position];
    const bool is_along_depth = contraction_.stride(operand, depth_) == Stride::Contiguous &&
                                contraction_.stride(operand, d) != Stride::Contiguous;
    return {operand, d, contraction_.extent(d), tile, per_thread, is_along_depth};
  }

  // A thread stores its elements one after the other. loop/verify cannot prove, because of the
  // tests at the edges, that none is read after another's store.
  void declare_read_after_write() {
    const auto& overwrites = contraction_.context().fusion.overwrites;
    for (graph::Value member : contraction_.group().members) {
      if (!overwrites[member].valid()) continue;
      contraction_.kernel().reread(contraction_.nest().buffer_of(member));
    }
  }

  int64_t size() const {
    int64_t size = 1;
    for (int d : contraction_.spatial()) size *= contraction_.extent(d);
    return size;
  }

  Affine partial_address(const Index& index, const Affine& part) const {
    Affine address = part;
    for (int d : contraction_.spatial()) {
      address = address * contraction_.extent(d) + index[d];
    }
    return address;
  }

  // The kernel after that of the parts: the sums of parts and the group's members, element by
  // element.
  void add_parts() {
    Kernel& kernel = contraction_.kernel();
    loop::ExprBuilder& exprs = contraction_.exprs();
    const loop::DType dtype = contraction_.dtype();
    const VarId part = kernel.add_var("part", parts_);
    const BufferRef sum = kernel.add_register("sum", dtype, 1);
    const ExprId before = exprs.load(sum, dtype, 0);
    const ExprId more =
        exprs.load(partial_, dtype, partial_address(contraction_.index(), Affine::variable(part)));
    std::vector<Stmt> body = {loop::store(sum, 0, contraction_.zero())};
    body.push_back(loop::for_loop(
        part, LoopKind::Serial, {loop::store(sum, 0, exprs.apply(loop::Op::Add, {before, more}))}));
    append(body, contraction_.finish(contraction_.index(), before, 0, 1));
    for (size_t i = contraction_.spatial().size(); i-- > 0;) {
      body = contraction_.serial(contraction_.spatial()[i], std::move(body));
    }
    kernel.body = std::move(body);
  }

  // All tiles of one part; `finish` makes statements of an element and its sum.
  template <class Finish>
  std::vector<Stmt> tiles(Nest& nest, const Finish& finish) {
    Kernel& kernel = nest.kernel();
    std::set<int64_t> bounds = {columns_.threads()};
    for (const Side* side : {&rows_, &columns_}) bounds.insert(across(*side));
    Threads threads(kernel, rows_.threads() * columns_.threads(), std::move(bounds));
    sums_ =
        kernel.add_register("sums", contraction_.dtype(), rows_.per_thread * columns_.per_thread);
    for (Side* side : {&rows_, &columns_}) add_memory(kernel, *side);

    const VarId clear = kernel.add_var("u", rows_.per_thread * columns_.per_thread);
    const ExprId zero =
        nest.exprs().constant(scalar::fold_identity(loop::Op::Add, contraction_.dtype()));
    std::vector<Stmt> body =
        single(unrolled(clear, single(loop::store(sums_, Affine::variable(clear), zero))));
    std::vector<Stmt> products = rounds(nest, threads);
    for (size_t i = contraction_.reduced().size() - 1; i-- > 0;) {
      products = contraction_.serial(contraction_.reduced()[i], std::move(products));
    }
    append(body, std::move(products));
    append(body, store(nest, threads, finish));
    body = threads.around(std::move(body));
    for (const Side* side : {&columns_, &rows_}) {
      body = single(loop::for_loop(side->number, LoopKind::Grid, std::move(body)));
    }
    for (size_t i = contraction_.spatial().size(); i-- > 0;) {
      const int d = contraction_.spatial()[i];
      if (d == rows_.dimension || d == columns_.dimension) continue;
      body = contraction_.looped(d, LoopKind::Grid, std::move(body));
    }
    return body;
  }

  static Stmt unrolled(VarId var, std::vector<Stmt> body) {
    return loop::for_loop(var, LoopKind::Unroll, std::move(body));
  }

  int64_t thread_count() const { return rows_.threads() * columns_.threads(); }
  // The number of threads along the contiguous dimension of the side's operand.
  int64_t across(const Side& side) const {
    return std::min(side.is_along_depth ? int64_t{schedule_.depth} : side.tile, thread_count());
  }
  int64_t line(const Side& side) const { return side.tile + schedule_.pad; }

  void add_memory(Kernel& kernel, Side& side) {
    const bool is_row = &side == &rows_;
    const loop::DType dtype = contraction_.part_type(side.operand);
    side.number =
        kernel.add_var(is_row ? "row" : "column", (side.extent + side.tile - 1) / side.tile);
    side.shared = kernel.add_shared(is_row ? "row_tile" : "column_tile", dtype,
                                    schedule_.buffers * schedule_.depth * line(side));
    side.registers = kernel.add_register(is_row ? "rows" : "columns", dtype, side.per_thread);
    if (schedule_.prefetch != 2) return;
    const auto [inner, outer] = fill_steps(side);
    side.next = kernel.add_register(is_row ? "next_rows" : "next_columns", dtype, inner * outer);
  }

  // The number of elements that a thread copies along the contiguous dimension, and across it.
  std::pair<int64_t, int64_t> fill_steps(const Side& side) const {
    const int64_t inner = side.is_along_depth ? schedule_.depth : side.tile;
    const int64_t outer = side.is_along_depth ? side.tile : schedule_.depth;
    const int64_t others = thread_count() / across(side);
    return {inner / across(side), std::max<int64_t>(outer / others, 1)};
  }

  // The address of an element of a stretch in buffer number `turn`.
  Affine shared_address(const Side& side, const Affine& turn, const Affine& step,
                        const Affine& at) const {
    return (turn * schedule_.depth + step) * line(side) + at;
  }

  // The copy loops over one stretch of an operand: `make` returns the statements for an element,
  // from its index in registers, its step, and its index in the tile.
  template <class Make>
  std::vector<Stmt> walk(Kernel& kernel, const Threads& threads, const Side& side,
                         const Make& make) const {
    const auto [inner_steps, outer_steps] = fill_steps(side);
    const VarId i = kernel.add_var("u", inner_steps), o = kernel.add_var("u", outer_steps);
    const int64_t width = across(side), others = thread_count() / width;
    const Affine inner = Affine::variable(i, width) + threads.remainder(width);
    const Affine outer = Affine::variable(o, others) + threads.quotient(width);
    const int64_t outer_extent = side.is_along_depth ? side.tile : schedule_.depth;
    const Affine per_thread = Affine::variable(o, inner_steps) + Affine::variable(i);
    std::vector<Stmt> body =
        side.is_along_depth ? make(per_thread, inner, outer) : make(per_thread, outer, inner);
    if (others > outer_extent) {
      body = single(loop::if_inside({{threads.quotient(width), outer_extent}}, std::move(body)));
    }
    return single(unrolled(o, single(unrolled(i, std::move(body)))));
  }

  ExprId loaded(Nest& nest, const Side& side, const Affine& step, const Affine& at) const {
    Index index = contraction_.index();
    const Affine position = side.start() + at;
    index[side.dimension] = position;
    index[depth_] = step;
    std::vector<Guard> guards;
    if (side.extent % side.tile != 0) guards.push_back({position, side.extent});
    if (may_exceed_depth() || parts_ * rounds_ * schedule_.depth != depth()) {
      guards.push_back({step, depth()});
    }
    return contraction_.element_inside(nest, side.operand, index, std::move(guards));
  }

  bool may_exceed_depth() const { return schedule_.buffers == 2 || schedule_.prefetch == 2; }

  Affine stretch(const Affine& round) const {
    const Affine first = part_ < 0 ? Affine(0) : Affine::variable(part_, rounds_);
    return (first + round) * schedule_.depth;
  }

  // Global memory into registers, registers into workgroup memory, or all the way.
  enum class Way { Read, Put, Both };
  std::vector<Stmt> fill(Nest& nest, const Threads& threads, Way way, const Affine& round,
                         const Affine& turn) {
    std::vector<Stmt> body;
    for (const Side* side : {&rows_, &columns_}) {
      const loop::DType dtype = contraction_.part_type(side->operand);
      append(body,
             walk(nest.kernel(), threads, *side,
                  [&](const Affine& per_thread, const Affine& step, const Affine& at) {
                    if (way == Way::Put) {
                      return single(loop::store(side->shared, shared_address(*side, turn, step, at),
                                                nest.exprs().load(side->next, dtype, per_thread)));
                    }
                    const ExprId value = loaded(nest, *side, stretch(round) + step, at);
                    return single(way == Way::Read
                                      ? loop::store(side->next, per_thread, value)
                                      : loop::store(side->shared,
                                                    shared_address(*side, turn, step, at), value));
                  }));
    }
    return body;
  }

  std::vector<Stmt> rounds(Nest& nest, const Threads& threads) {
    const bool prefetches = schedule_.prefetch == 2;
    return schedule_.buffers == 2 ? double_buffer(nest, threads, prefetches)
                                  : share_memory(nest, threads, prefetches);
  }

  std::vector<Stmt> share_memory(Nest& nest, const Threads& threads, bool prefetches) {
    const VarId round = nest.kernel().add_var("round", rounds_);
    const Affine at = Affine::variable(round);
    std::vector<Stmt> first, body;
    if (prefetches) first = fill(nest, threads, Way::Read, 0, 0);
    append(body, fill(nest, threads, prefetches ? Way::Put : Way::Both, at, 0));
    body.push_back(loop::barrier());
    if (prefetches) append(body, fill(nest, threads, Way::Read, at + 1, 0));
    append(body, multiply(nest, threads, 0));
    body.push_back(loop::barrier());
    first.push_back(loop::for_loop(round, LoopKind::Serial, std::move(body)));
    return first;
  }

  std::vector<Stmt> double_buffer(Nest& nest, const Threads& threads, bool prefetches) {
    const VarId pair = nest.kernel().add_var("round", rounds_ / 2);
    const VarId turn = nest.kernel().add_var("turn", 2);
    const Affine now = Affine::variable(turn), other = Affine::variable(turn, -1) + 1;
    const Affine next = Affine::variable(pair, 2) + now + 1;
    std::vector<Stmt> first = fill(nest, threads, Way::Both, 0, 0), body;
    body.push_back(loop::barrier());
    append(body, fill(nest, threads, prefetches ? Way::Read : Way::Both, next, other));
    append(body, multiply(nest, threads, now));
    if (prefetches) append(body, fill(nest, threads, Way::Put, next, other));
    body = single(loop::for_loop(turn, LoopKind::Serial, std::move(body)));
    first.push_back(loop::for_loop(pair, LoopKind::Serial, std::move(body)));
    return first;
  }

  // The index in the tile of an element of the thread: rows are interleaved with other threads,
  // columns are interleaved by vectors.
  Affine row_at(const Threads& threads, const Affine& per_thread) const {
    return per_thread * rows_.threads() + threads.quotient(columns_.threads());
  }
  struct Columns {
    VarId vector, lane;
    Affine per_thread, at;
  };
  Columns columns_of(Kernel& kernel, const Threads& threads) const {
    const int64_t width = schedule_.vector;
    Columns columns{
        kernel.add_var("c", columns_.per_thread / width), kernel.add_var("v", width), {}, {}};
    const Affine lane = Affine::variable(columns.lane);
    columns.per_thread = Affine::variable(columns.vector, width) + lane;
    columns.at = (Affine::variable(columns.vector, columns_.threads()) +
                  threads.remainder(columns_.threads())) *
                     width +
                 lane;
    return columns;
  }
  static std::vector<Stmt> around(const Columns& columns, std::vector<Stmt> body) {
    return single(unrolled(columns.vector, single(unrolled(columns.lane, std::move(body)))));
  }

  std::vector<Stmt> multiply(Nest& nest, const Threads& threads, const Affine& turn) {
    Kernel& kernel = nest.kernel();
    loop::ExprBuilder& exprs = nest.exprs();
    const VarId k = kernel.add_var("k", schedule_.depth), r = kernel.add_var("r", rows_.per_thread);
    const Affine step = Affine::variable(k), row = Affine::variable(r);
    const Columns columns = columns_of(kernel, threads);
    const auto shared = [&](const Side& side, const Affine& at) {
      return exprs.load(side.shared, contraction_.part_type(side.operand),
                        shared_address(side, turn, step, at));
    };
    const ExprId one_row = shared(rows_, row_at(threads, row));
    std::vector<Stmt> body =
        single(unrolled(r, single(loop::store(rows_.registers, row, one_row))));
    const ExprId one_column = shared(columns_, columns.at);
    append(body, around(columns,
                        single(loop::store(columns_.registers, columns.per_thread, one_column))));
    const Affine at = row * columns_.per_thread + columns.per_thread;
    std::array<ExprId, 2> factors;
    for (const auto& [side, per_thread] :
         {std::pair(&rows_, row), std::pair(&columns_, columns.per_thread)}) {
      factors[side->operand] =
          exprs.load(side->registers, contraction_.part_type(side->operand), per_thread);
    }
    const ExprId sum = contraction_.mul_add(exprs, factors[0], factors[1],
                                            exprs.load(sums_, contraction_.dtype(), at));
    append(body, single(unrolled(r, around(columns, single(loop::store(sums_, at, sum))))));
    return single(loop::for_loop(k, LoopKind::Serial, std::move(body)));
  }

  template <class Finish>
  std::vector<Stmt> store(Nest& nest, const Threads& threads, const Finish& finish) {
    Kernel& kernel = nest.kernel();
    const VarId r = kernel.add_var("r", rows_.per_thread);
    const Affine thread_row = Affine::variable(r);
    const Columns columns = columns_of(kernel, threads);
    const Affine row = rows_.start() + row_at(threads, thread_row);
    const Affine column = columns_.start() + columns.at;
    Index index = contraction_.index();
    index[rows_.dimension] = row;
    index[columns_.dimension] = column;
    std::vector<Guard> guards;
    if (rows_.extent % rows_.tile != 0) guards.push_back({row, rows_.extent});
    if (columns_.extent % columns_.tile != 0) guards.push_back({column, columns_.extent});
    const Affine at = thread_row * columns_.per_thread + columns.per_thread;
    std::vector<Stmt> body = finish(index, nest.exprs().load(sums_, contraction_.dtype(), at));
    if (!guards.empty()) body = single(loop::if_inside(std::move(guards), std::move(body)));
    return single(unrolled(r, around(columns, std::move(body))));
  }

  Contraction& contraction_;
  const Schedule& schedule_;
  int depth_;
  Side rows_, columns_;
  int64_t rounds_ = 1, parts_ = 1;  // stretches of a part; parts of the reduced dimension
  VarId part_ = -1;
  BufferRef sums_, partial_;
};

}  // namespace

void tile_contract(Contraction& contraction, const ContractionShape& shape,
                   const Schedule& schedule) {
  TileLowering(contraction, shape, schedule).run();
}

}  // namespace lathe::lower::gpu
