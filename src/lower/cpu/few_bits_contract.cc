// A few rows times weights of few bits: words of weights are read once, and multiplied as they are,
// two numbers an instruction. Before, a kernel makes integers of the rows: of each part of a row,
// relative to its greatest number, 30 bits in two halves that 16 bits hold. What sums of products
// of integers give is exact, so the result is as that of floats, or closer.
#include <algorithm>
#include <utility>

#include "lathe/base/text.h"
#include "lathe/loop/pairs.h"
#include "lathe/lower/cpu/few_bits.h"
#include "lathe/lower/cpu/strategies.h"
#include "lathe/lower/segments.h"

namespace lathe::lower::cpu {

using loop::Affine;
using loop::BufferRef;
using loop::DType;
using loop::ExprBuilder;
using loop::ExprId;
using loop::Kernel;
using loop::kLanes;
using loop::LoopKind;
using loop::Number;
using loop::Op;
using loop::Stmt;
using loop::VarId;

namespace {

constexpr int64_t kMostRows = 4;
constexpr int64_t kMostSums = 8;    // vectors of columns times rows that registers hold
constexpr int64_t kMostUnroll = 4;  // words times rows
constexpr float kRange = 1 << 30;
constexpr float kLeast = 1e-29f;  // of a greatest number: kRange divided by it is finite
constexpr int32_t kHalf = 16;

std::vector<Stmt> one(Stmt stmt) {
  std::vector<Stmt> stmts;
  stmts.push_back(std::move(stmt));
  return stmts;
}

std::vector<Stmt> unrolled(VarId var, std::vector<Stmt> body) {
  return one(loop::for_loop(var, LoopKind::Unroll, std::move(body)));
}

std::vector<Stmt> stored(const LaneLoops& lanes, BufferRef to, const Affine& at, ExprId value) {
  return lanes.around(one(loop::store(to, at, value)));
}

// What the operation makes of four elements of the register, from this one on.
ExprId folded(ExprBuilder& exprs, Op op, BufferRef from, DType dtype, int64_t first) {
  ExprId pairs[2];
  for (int64_t i = 0; i < 2; ++i) {
    const ExprId x = exprs.load(from, dtype, Affine(first + 2 * i));
    const ExprId y = exprs.load(from, dtype, Affine(first + 2 * i + 1));
    pairs[i] = exprs.apply(op, {x, y});
  }
  return exprs.apply(op, pairs, 2);
}

// A new register of whole vectors, full of this number behind `body`.
BufferRef filled(Kernel& kernel, const char* name, int64_t size, const Number& number,
                 ExprBuilder& exprs, std::vector<Stmt>& body) {
  const BufferRef to = kernel.add_register(name, number.dtype, size);
  const LaneLoops lanes = lane_loops(kernel, size);
  append(body, stored(lanes, to, lanes.element, exprs.constant(number)));
  return to;
}

class FewBitsLowering {
 public:
  FewBitsLowering(Contraction& contraction, FewBits& weights)
      : contraction_(contraction),
        weights_(weights),
        kernel_(contraction.kernel()),
        exprs_(contraction.exprs()),
        rows_(weights.row < 0 ? 1 : contraction.extent(weights.row)),
        parts_(weights.block_count() * weights.parts) {}

  // A function of its own: engines compile a function when it is first called, and few contractions
  // get here.
  [[gnu::noinline]] void run() {
    integers_ = buffer("integers", DType::I32, rows_ * parts_ * weights_.part_depth);
    sums_ = buffer("sums", DType::I32, rows_ * parts_ * 2);
    units_ = buffer("units", DType::F32, rows_ * parts_);
    split_rows();
    words_ = weights_.pack_words();
    scales_ = weights_.pack_scales();
    if (!weights_.zero) zeros_ = weights_.pack_zeros();
    Code code;
    for (const Segment& tile : weights_.tiles) {
      const StepLoop along = step_loop(kernel_, "j", tile);
      Code strip;
      const int64_t held = std::max<int64_t>(kMostSums / rows_, 1) * kLanes;
      for (int64_t from = 0; from < tile.width; from += held) {
        const int64_t width = std::min(held, tile.width - from);
        Code part;
        part.body = columns({tile, along.position, from, width});
        part.work = rows_ * width * parts_ * weights_.part_depth;
        part.outlined = false;
        strip.add(std::move(part));
      }
      strip.loop(along, tile.count);
      code.add(std::move(strip));
    }
    kernel_.body = std::move(code.body);
  }

 private:
  // Columns of a tile that registers hold.
  struct Columns {
    Segment tile;
    Affine start;  // of the tile
    int64_t from, width;
  };

  BufferRef buffer(const char* name, DType dtype, int64_t size) {
    EntryContext& context = contraction_.context();
    const int32_t id = contraction_.group().anchor().id;
    return {loop::Space::Global, context.add_buffer(concat(context.graph.name, '.', name, id),
                                                    dtype, size, loop::BufferRole::Temporary)};
  }

  ExprId number(ExprBuilder& exprs, int32_t value) { return exprs.constant(Number::of(value)); }

  // Of a row, in both kernels.
  struct Part {
    Affine row, block, part;
    Affine place(const FewBitsLowering& of) const {
      return row * of.parts_ + block * of.weights_.parts + part;
    }
  };

  // Element `k` of a block of a row, zero behind its end.
  ExprId row_element(Nest& nest, const Affine& row, const Affine& k) {
    Index index = contraction_.index();
    if (weights_.row >= 0) index[static_cast<size_t>(weights_.row)] = row;
    for (const int d : weights_.inner) index[static_cast<size_t>(d)] = Affine(0);
    index[static_cast<size_t>(weights_.inner.back())] = k;
    std::vector<loop::Guard> guards;
    if (weights_.depth % weights_.part_depth != 0) guards.push_back({k, weights_.depth});
    return contraction_.element_inside(nest, 1 - weights_.operand, index, std::move(guards));
  }

  void split_rows() {
    Kernel kernel;
    kernel.origin = kernel_.origin;
    kernel.vars = kernel_.vars;
    Nest nest(contraction_.context(), kernel);
    const StepLoop rows = step_loop(kernel, "row", {0, rows_, 1});
    const StepLoop parts = step_loop(kernel, "part", {0, weights_.parts, 1});
    const Part part{rows.position, weights_.block_number(), parts.position};
    std::vector<Stmt> body = split_part(nest, part);
    body = parts.around(std::move(body), true);
    for (size_t i = weights_.blocks.size(); i-- > 0;) {
      body = contraction_.serial(weights_.blocks[i], std::move(body));
    }
    kernel.body = rows.around(std::move(body));
    contraction_.context().before.push_back(std::move(kernel));
  }

  std::vector<Stmt> split_part(Nest& nest, const Part& part) {
    Kernel& kernel = nest.kernel();
    ExprBuilder& exprs = nest.exprs();
    const int64_t depth = weights_.part_depth;
    const Affine first = part.part * depth;
    std::vector<Stmt> body;
    const BufferRef most = filled(kernel, "most", kLanes, Number::of(kLeast), exprs, body);
    const BufferRef factor = kernel.add_register("factor", DType::F32, 1);
    const LaneLoops find = lane_loops(kernel, kLanes);
    const StepLoop vectors = step_loop(kernel, "k", {0, depth / kLanes, kLanes});
    const ExprId size = exprs.apply(
        Op::Abs, {row_element(nest, part.row, first + vectors.position + find.element)});
    const ExprId before = exprs.load(most, DType::F32, find.element);
    append(body,
           vectors.around(stored(find, most, find.element, exprs.apply(Op::Max, {before, size}))));
    const ExprId greatest = folded(exprs, Op::Max, most, DType::F32, 0);
    body.push_back(
        loop::store(factor, Affine(0), exprs.apply(Op::Div, {exprs.constant(kRange), greatest})));
    body.push_back(loop::store(units_, part.place(*this),
                               exprs.apply(Op::Mul, {greatest, exprs.constant(1 / kRange)})));
    append(body, split_numbers(nest, part, factor));
    return body;
  }

  // Both halves of all numbers, as pairs, and what they add up to.
  std::vector<Stmt> split_numbers(Nest& nest, const Part& part, BufferRef factor) {
    Kernel& kernel = nest.kernel();
    ExprBuilder& exprs = nest.exprs();
    const int64_t depth = weights_.part_depth;
    std::vector<Stmt> body;
    const BufferRef sums = filled(kernel, "sums", 2 * kLanes, Number::of(int32_t{0}), exprs, body);
    const BufferRef whole = kernel.add_register("whole", DType::I32, 2 * kLanes);
    const StepLoop chunks = step_loop(kernel, "k", {0, depth / (2 * kLanes), 2 * kLanes});
    const LaneLoops round = lane_loops(kernel, 2 * kLanes);
    const ExprId scaled = exprs.apply(
        Op::Mul, {row_element(nest, part.row, part.part * depth + chunks.position + round.element),
                  exprs.load(factor, DType::F32, Affine(0))});
    std::vector<Stmt> chunk = stored(round, whole, round.element, exprs.cast(scaled, DType::I32));
    const ExprId shift = number(exprs, kHalf);
    const auto high = [&](const Affine& at) {
      const ExprId rounded = exprs.apply(
          Op::Add, {exprs.load(whole, DType::I32, at), number(exprs, 1 << (kHalf - 1))});
      return exprs.apply(Op::ShiftRight, {rounded, shift});
    };
    const auto low = [&](const Affine& at) {
      return exprs.apply(Op::Sub, {exprs.load(whole, DType::I32, at),
                                   exprs.apply(Op::ShiftLeft, {high(at), shift})});
    };
    const Affine to = part.place(*this) * depth;
    for (const int64_t half : {0, 1}) {
      const VarId v = kernel.add_var("v", kLanes);
      const Affine near = Affine::variable(v), far = near + kLanes;
      const ExprId x = half == 0 ? high(near) : low(near), y = half == 0 ? high(far) : low(far);
      const Affine sum = Affine::variable(v) + half * kLanes;
      std::vector<Stmt> stores;
      stores.push_back(loop::store(
          integers_, to + Affine(half * (depth / 2)) + pair_place(chunks) + Affine::variable(v),
          loop::join_pair(exprs, x, y)));
      stores.push_back(loop::store(
          sums, sum,
          exprs.apply(Op::Add, {exprs.load(sums, DType::I32, sum), exprs.apply(Op::Add, {x, y})})));
      chunk.push_back(loop::for_loop(v, LoopKind::Vector, std::move(stores)));
    }
    append(body, chunks.around(std::move(chunk)));
    for (const int64_t half : {0, 1}) {
      const ExprId sum = folded(exprs, Op::Add, sums, DType::I32, half * kLanes);
      const ExprId from_zero =
          weights_.zero ? exprs.apply(Op::Mul, {sum, number(exprs, -*weights_.zero)}) : sum;
      body.push_back(loop::store(sums_, part.place(*this) * 2 + half, from_zero));
    }
    return body;
  }

  static Affine pair_place(const StepLoop& chunks) {
    return chunks.var < 0 ? Affine(0) : Affine::variable(chunks.var, kLanes);
  }

  std::vector<Stmt> columns(const Columns& columns) {
    const int64_t size = rows_ * columns.width;
    std::vector<Stmt> body;
    const BufferRef results = filled(kernel_, "results", size, Number::of(0.0f), exprs_, body);
    const StepLoop parts = step_loop(kernel_, "part", {0, weights_.parts, 1});
    std::vector<Stmt> blocks = parts.around(multiply(results, columns, parts.position));
    for (size_t i = weights_.blocks.size(); i-- > 0;) {
      blocks = contraction_.serial(weights_.blocks[i], std::move(blocks));
    }
    append(body, std::move(blocks));
    append(body, finish(results, columns));
    return body;
  }

  // The part's products, added to the results.
  std::vector<Stmt> multiply(BufferRef results, const Columns& columns, const Affine& part) {
    const int64_t size = rows_ * columns.width;
    const BufferRef high = kernel_.add_register("high", DType::I32, size);
    const BufferRef low = kernel_.add_register("low", DType::I32, size);
    std::vector<Stmt> body;
    const VarId r = kernel_.add_var("r", rows_);
    const Part place{Affine::variable(r), weights_.block_number(), part};
    std::vector<Stmt> starts;
    for (const int64_t half : {0, 1}) {
      const LaneLoops lanes = lane_loops(kernel_, columns.width);
      const ExprId start = weights_.zero
                               ? exprs_.load(sums_, DType::I32, place.place(*this) * 2 + half)
                               : number(exprs_, 0);
      append(starts, stored(lanes, half == 0 ? high : low,
                            Affine::variable(r, columns.width) + lanes.element, start));
    }
    append(body, unrolled(r, std::move(starts)));
    for (const Segment& segment :
         split(weights_.words(), std::max<int64_t>(kMostUnroll / rows_, 1))) {
      const StepLoop steps = step_loop(kernel_, "w", segment);
      const VarId u = kernel_.add_var("u", segment.width);
      append(body, steps.around(unrolled(u, multiply_word(high, low, columns, part,
                                                          steps.position + Affine::variable(u)))));
    }
    append(body, scale(results, high, low, columns, part));
    return body;
  }

  std::vector<Stmt> multiply_word(BufferRef high, BufferRef low, const Columns& columns,
                                  const Affine& part, const Affine& word) {
    const BufferRef words = kernel_.add_register("words", DType::I32, columns.width);
    const BufferRef pair = kernel_.add_register("pair", DType::I32, kLanes);
    const int64_t pairs = weights_.pairs_in_word();
    const LaneLoops read = lane_loops(kernel_, columns.width);
    const Affine from =
        columns.start * (parts_ * weights_.words()) +
        ((weights_.block_number() * weights_.parts + part) * weights_.words() + word) *
            columns.tile.width;
    std::vector<Stmt> body =
        stored(read, words, read.element,
               exprs_.load(words_, DType::I32, from + columns.from + read.element));
    const VarId p = kernel_.add_var("p", pairs), r = kernel_.add_var("r", rows_);
    const VarId c = kernel_.add_var("c", columns.width / kLanes);
    const VarId split = kernel_.add_var("v", kLanes);
    const int32_t mask = ((1 << weights_.bits) - 1) * 0x10001;
    const ExprId shifted = exprs_.apply(
        Op::ShiftRight,
        {exprs_.load(words, DType::I32, Affine::variable(c, kLanes) + Affine::variable(split)),
         exprs_.index(Affine::variable(p, weights_.bits))});
    std::vector<Stmt> in_column = one(loop::for_loop(
        split, LoopKind::Vector,
        one(loop::store(pair, Affine::variable(split),
                        exprs_.apply(Op::BitAnd, {shifted, number(exprs_, mask)})))));
    const Part place{Affine::variable(r), weights_.block_number(), part};
    const Affine integer = place.place(*this) * weights_.part_depth + word * pairs;
    std::vector<Stmt> in_row;
    for (const int64_t half : {0, 1}) {
      const VarId v = kernel_.add_var("v", kLanes);
      const BufferRef sums = half == 0 ? high : low;
      const Affine sum =
          Affine::variable(r, columns.width) + Affine::variable(c, kLanes) + Affine::variable(v);
      const ExprId x = exprs_.load(
          integers_, DType::I32, integer + half * (weights_.part_depth / 2) + Affine::variable(p));
      const ExprId total =
          loop::add_pair_products(exprs_, exprs_.load(pair, DType::I32, Affine::variable(v)), x,
                                  exprs_.load(sums, DType::I32, sum));
      in_row.push_back(loop::for_loop(v, LoopKind::Vector, one(loop::store(sums, sum, total))));
    }
    append(in_column, unrolled(r, std::move(in_row)));
    append(body, unrolled(p, unrolled(c, std::move(in_column))));
    return body;
  }

  ExprId joined(ExprId high, ExprId low) {
    return exprs_.apply(
        Op::MulAdd, {exprs_.cast(high, DType::F32), exprs_.constant(static_cast<float>(1 << kHalf)),
                     exprs_.cast(low, DType::F32)});
  }

  std::vector<Stmt> scale(BufferRef results, BufferRef high, BufferRef low, const Columns& columns,
                          const Affine& part) {
    const VarId r = kernel_.add_var("r", rows_);
    const LaneLoops lanes = lane_loops(kernel_, columns.width);
    const Affine at = Affine::variable(r, columns.width) + lanes.element;
    const Part place{Affine::variable(r), weights_.block_number(), part};
    const Affine of_block = columns.start * weights_.block_count() +
                            weights_.block_number() * columns.tile.width + columns.from +
                            lanes.element;
    ExprId sum = joined(exprs_.load(high, DType::I32, at), exprs_.load(low, DType::I32, at));
    if (!weights_.zero) {
      const auto all = [&](int64_t half) {
        return exprs_.load(sums_, DType::I32, place.place(*this) * 2 + half);
      };
      const ExprId zeros = exprs_.apply(
          Op::Mul, {joined(all(0), all(1)), exprs_.load(zeros_, DType::F32, of_block)});
      sum = exprs_.apply(Op::Sub, {sum, zeros});
    }
    const ExprId unit = exprs_.load(units_, DType::F32, place.place(*this));
    const ExprId result = exprs_.apply(
        Op::MulAdd, {exprs_.apply(Op::Mul, {sum, unit}), exprs_.load(scales_, DType::F32, of_block),
                     exprs_.load(results, DType::F32, at)});
    return unrolled(r, stored(lanes, results, at, result));
  }

  // Whole vectors, then what is left one by one.
  std::vector<Stmt> finish(BufferRef results, const Columns& columns) {
    const int64_t there = std::min(
        columns.width, contraction_.extent(weights_.column) - columns.tile.begin - columns.from);
    std::vector<Stmt> body;
    for (const auto& [begin, width] : {std::pair(int64_t{0}, there / kLanes * kLanes),
                                       std::pair(there / kLanes * kLanes, there % kLanes)}) {
      if (width == 0) continue;
      const VarId r = kernel_.add_var("r", rows_);
      const LaneLoops lanes = lane_loops(kernel_, width);
      Index index = contraction_.index();
      if (weights_.row >= 0) index[static_cast<size_t>(weights_.row)] = Affine::variable(r);
      index[static_cast<size_t>(weights_.column)] =
          columns.start + columns.from + begin + lanes.element;
      const ExprId result = exprs_.load(results, DType::F32,
                                        Affine::variable(r, columns.width) + begin + lanes.element);
      const bool vector = lanes.vector >= 0;
      append(body,
             unrolled(r, lanes.around(contraction_.finish(
                             index, result, vector ? Affine::variable(lanes.vector) : Affine(0),
                             vector ? kLanes : 1))));
    }
    return body;
  }

  Contraction& contraction_;
  FewBits& weights_;
  Kernel& kernel_;
  ExprBuilder& exprs_;
  int64_t rows_;
  int64_t parts_;  // of a row
  BufferRef integers_, sums_, units_, words_, scales_, zeros_;
};

// Whether the inner dimensions can be walked as one, by the last of them.
bool lies_evenly(Contraction& contraction, const FewBits& weights) {
  const int rows = 1 - weights.operand;
  const int64_t step = contraction.step(rows, weights.inner.back());
  int64_t extent = 1;
  for (size_t i = weights.inner.size(); i-- > 0;) {
    if (contraction.step(rows, weights.inner[i]) != step * extent) return false;
    extent *= contraction.extent(weights.inner[i]);
  }
  return step != 0;
}

}  // namespace

bool few_bits_contract(Contraction& contraction) {
  std::optional<FewBits> weights = FewBits::find(contraction);
  if (!weights || !lies_evenly(contraction, *weights)) return false;
  if (weights->row >= 0 && contraction.extent(weights->row) > kMostRows) return false;
  FewBitsLowering(contraction, *weights).run();
  return true;
}

}  // namespace lathe::lower::cpu
