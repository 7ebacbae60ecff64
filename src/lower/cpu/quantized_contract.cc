// Contractions of rows with quantized weights. A first kernel rounds each part of the rows to
// integers of 16 bits, relative to its largest magnitude. The second reads each word of weights
// once for several rows and multiplies pairs of integers, two products per lane and instruction,
// without dequantizing the weights.
//
// Within a part, sums of products are exact. They fit i32, because a part has at most 256 numbers
// (quantized_weights.cc), packed weights are below 256, and rounded row elements have at most the
// magnitude kRange. The sums of parts are scaled and accumulated in f32.
#include <algorithm>
#include <utility>

#include "lathe/base/text.h"
#include "lathe/loop/analysis/pairs.h"
#include "lathe/lower/cpu/lanes.h"
#include "lathe/lower/cpu/quantized_weights.h"
#include "lathe/lower/cpu/strategies.h"
#include "lathe/lower/segments.h"

namespace lathe::lower::cpu {

using loop::Affine;
using loop::BufferRef;
using loop::DType;
using loop::ExprBuilder;
using loop::ExprId;
using loop::Kernel;
using loop::LoopKind;
using loop::Number;
using loop::Op;
using loop::Stmt;
using loop::VarId;

namespace {

constexpr int64_t kTileRows = 4;
constexpr int64_t kMaxSums = 8;          // of a tile: vectors of sums in registers
constexpr int64_t kMaxUnrolled = 16;     // of a tile: pairs of a row's integers, times rows
constexpr float kRange = 32767;          // largest magnitude of a rounded row element
constexpr float kMinMagnitude = 1e-29f;  // lower bound of a part's maximum: kRange / it is finite

std::vector<Stmt> unrolled(VarId var, std::vector<Stmt> body) {
  return single(loop::for_loop(var, LoopKind::Unroll, std::move(body)));
}

// A store to element `at` of the buffer, inside the loops over lanes.
std::vector<Stmt> stored(const LaneLoops& lanes, BufferRef to, const Affine& at, ExprId value) {
  return lanes.around(single(loop::store(to, at, value)));
}

// Combines four elements of the register, from `first` on, by a binary operation.
ExprId fold_four(ExprBuilder& exprs, Op op, BufferRef from, DType dtype, int64_t first) {
  ExprId pairs[2];
  for (int64_t i = 0; i < 2; ++i) {
    const ExprId x = exprs.load(from, dtype, Affine(first + 2 * i));
    const ExprId y = exprs.load(from, dtype, Affine(first + 2 * i + 1));
    pairs[i] = exprs.apply(op, {x, y});
  }
  return exprs.apply(op, pairs, 2);
}

// A new register of full vectors, filled with this number at the end of `body`.
BufferRef filled(Kernel& kernel, const char* name, int64_t size, const Number& number,
                 ExprBuilder& exprs, std::vector<Stmt>& body) {
  const BufferRef to = kernel.add_register(name, number.dtype, size);
  const LaneLoops lanes = lane_loops(kernel, size);
  append(body, stored(lanes, to, lanes.element, exprs.constant(number)));
  return to;
}

class QuantizedLowering {
 public:
  QuantizedLowering(Contraction& contraction, QuantizedWeights& weights)
      : contraction_(contraction),
        weights_(weights),
        kernel_(contraction.kernel()),
        exprs_(contraction.exprs()),
        rows_(weights.row < 0 ? 1 : contraction.extent(weights.row)),
        parts_(weights.block_count() * weights.parts) {}

  // Not inlined: engines compile a function when it is first called, and few contractions reach
  // this one.
  [[gnu::noinline]] void run() {
    integers_ = buffer("integers", DType::I32, rows_ * parts_ * weights_.part_depth / 2);
    sums_ = buffer("sums", weights_.zero ? DType::I32 : DType::F32, rows_ * parts_);
    units_ = buffer("units", DType::F32, rows_ * parts_);
    round_rows();
    words_ = weights_.pack_words();
    scales_ = weights_.pack_scales();
    if (!weights_.zero) zeros_ = weights_.pack_zeros();
    Code code;
    for (Segment tile : split(contraction_.extent(weights_.column), QuantizedWeights::kTile)) {
      const StepLoop along =
          step_loop(kernel_, "j", {tile.begin / QuantizedWeights::kTile, tile.count, 1});
      tile.width = (tile.width + kLanes - 1) / kLanes * kLanes;
      Code strip;
      for (const Segment& rows : split(rows_, kTileRows)) {
        const StepLoop down = step_loop(kernel_, "i", rows);
        Code part = lower_row_tile({tile, along.position, down.position, rows.width});
        part.loop(down, rows.count);
        strip.add(std::move(part));
      }
      strip.loop(along, tile.count);
      code.add(std::move(strip));
    }
    kernel_.body = std::move(code.body);
  }

 private:
  // A block of results whose sums are in registers: `rows` rows times the columns from `from` to
  // from + width, relative to the tile of columns.
  struct Tile {
    Segment columns;    // the tile of columns
    Affine tile_index;  // its index among the tiles of kTile columns
    Affine first_row;
    int64_t rows;
    int64_t from = 0, width = 0;
  };

  // Code for some rows and a whole tile of columns, in steps whose sums fit registers.
  Code lower_row_tile(Tile tile) {
    Code code;
    tile.width = std::max<int64_t>(kMaxSums / tile.rows, 1) * kLanes;
    for (; tile.from < tile.columns.width; tile.from += tile.width) {
      tile.width = std::min(tile.width, tile.columns.width - tile.from);
      Code part;
      part.body = lower_column_tile(tile);
      part.work = tile.rows * tile.width * parts_ * weights_.part_depth;
      part.outlined = false;
      code.add(std::move(part));
    }
    return code;
  }

  BufferRef buffer(const char* name, DType dtype, int64_t size) {
    EntryContext& context = contraction_.context();
    const int32_t id = contraction_.group().anchor().id;
    return {loop::Space::Global, context.add_buffer(concat(context.graph.name, '.', name, id),
                                                    dtype, size, loop::BufferRole::Temporary)};
  }

  ExprId constant(ExprBuilder& exprs, int32_t value) { return exprs.constant(Number::of(value)); }

  // The position of a part of a row: its row, its block in the row, and its index in the block.
  struct Part {
    Affine row, block, part;
    // The index of the part among those of all rows.
    Affine offset(const QuantizedLowering& lowering) const {
      return row * lowering.parts_ + block * lowering.weights_.parts + part;
    }
  };

  // Element `k` of a block of a row, zero after its end.
  ExprId row_element(Nest& nest, const Affine& row, const Affine& k) {
    Index index = contraction_.index();
    if (weights_.row >= 0) index[weights_.row] = row;
    for (const int d : weights_.inner) index[d] = Affine(0);
    index[weights_.inner.back()] = k;
    std::vector<loop::Guard> guards;
    if (weights_.depth % weights_.part_depth != 0) guards.push_back({k, weights_.depth});
    return contraction_.element_inside(nest, 1 - weights_.operand, index, std::move(guards));
  }

  void round_rows() {
    Kernel kernel;
    kernel.origin = kernel_.origin;
    kernel.vars = kernel_.vars;
    Nest nest(contraction_.context(), kernel);
    const StepLoop rows = step_loop(kernel, "row", {0, rows_, 1});
    const StepLoop parts = step_loop(kernel, "part", {0, weights_.parts, 1});
    const Part part{rows.position, weights_.block_number(), parts.position};
    std::vector<Stmt> body = round_part(nest, part);
    body = parts.around(std::move(body), true);
    for (size_t i = weights_.blocks.size(); i-- > 0;) {
      body = contraction_.serial(weights_.blocks[i], std::move(body));
    }
    kernel.body = rows.around(std::move(body));
    contraction_.context().before.push_back(std::move(kernel));
  }

  std::vector<Stmt> round_part(Nest& nest, const Part& part) {
    Kernel& kernel = nest.kernel();
    ExprBuilder& exprs = nest.exprs();
    const int64_t depth = weights_.part_depth;
    const Affine first = part.part * depth;
    std::vector<Stmt> body;
    const BufferRef maxima = filled(kernel, "most", kLanes, Number::of(kMinMagnitude), exprs, body);
    const BufferRef factor = kernel.add_register("factor", DType::F32, 1);
    const LaneLoops find = lane_loops(kernel, kLanes);
    const StepLoop vectors = step_loop(kernel, "k", {0, depth / kLanes, kLanes});
    const ExprId size = exprs.apply(
        Op::Abs, {row_element(nest, part.row, first + vectors.position + find.element)});
    const ExprId before = exprs.load(maxima, DType::F32, find.element);
    append(body, vectors.around(
                     stored(find, maxima, find.element, exprs.apply(Op::Max, {before, size}))));
    const ExprId maximum = fold_four(exprs, Op::Max, maxima, DType::F32, 0);
    body.push_back(
        loop::store(factor, Affine(0), exprs.apply(Op::Div, {exprs.constant(kRange), maximum})));
    body.push_back(loop::store(units_, part.offset(*this),
                               exprs.apply(Op::Mul, {maximum, exprs.constant(1 / kRange)})));
    append(body, round_numbers(nest, part, factor));
    return body;
  }

  // Stores the part's rounded elements as pairs, and the correction for the zero of the weights:
  // the elements' sum times -zero, or times -1 where zeros differ.
  std::vector<Stmt> round_numbers(Nest& nest, const Part& part, BufferRef factor) {
    Kernel& kernel = nest.kernel();
    ExprBuilder& exprs = nest.exprs();
    const int64_t depth = weights_.part_depth;
    std::vector<Stmt> body;
    const BufferRef sums = filled(kernel, "sums", kLanes, Number::of(int32_t{0}), exprs, body);
    const BufferRef rounded = kernel.add_register("whole", DType::I32, 2 * kLanes);
    const StepLoop chunks = step_loop(kernel, "k", {0, depth / (2 * kLanes), 2 * kLanes});
    const LaneLoops round = lane_loops(kernel, 2 * kLanes);
    const ExprId scaled = exprs.apply(
        Op::Mul, {row_element(nest, part.row, part.part * depth + chunks.position + round.element),
                  exprs.load(factor, DType::F32, Affine(0))});
    std::vector<Stmt> chunk = stored(round, rounded, round.element,
                                     exprs.cast(exprs.apply(Op::Nearest, {scaled}), DType::I32));
    const VarId v = kernel.add_var("v", kLanes);
    const Affine lane = Affine::variable(v);
    const ExprId x = exprs.load(rounded, DType::I32, lane);
    const ExprId y = exprs.load(rounded, DType::I32, lane + kLanes);
    std::vector<Stmt> stores;
    stores.push_back(loop::store(integers_,
                                 part.offset(*this) * (depth / 2) + pair_offset(chunks) + lane,
                                 loop::join_pair(exprs, x, y)));
    stores.push_back(loop::store(
        sums, lane,
        exprs.apply(Op::Add, {exprs.load(sums, DType::I32, lane), exprs.apply(Op::Add, {x, y})})));
    chunk.push_back(loop::for_loop(v, LoopKind::Vector, std::move(stores)));
    append(body, chunks.around(std::move(chunk)));
    const ExprId sum = fold_four(exprs, Op::Add, sums, DType::I32, 0);
    const ExprId correction = weights_.zero
                                  ? exprs.apply(Op::Mul, {sum, constant(exprs, -*weights_.zero)})
                                  : exprs.apply(Op::Neg, {exprs.cast(sum, DType::F32)});
    body.push_back(loop::store(sums_, part.offset(*this), correction));
    return body;
  }

  static Affine pair_offset(const StepLoop& chunks) {
    return chunks.var < 0 ? Affine(0) : Affine::variable(chunks.var, kLanes);
  }

  // Results of a tile: multiplies all parts, then finishes. Not inlined into run(), because the
  // core compresses better.
  [[gnu::noinline]] std::vector<Stmt> lower_column_tile(const Tile& tile) {
    std::vector<Stmt> body;
    const BufferRef results =
        filled(kernel_, "results", tile.rows * tile.width, Number::of(0.0f), exprs_, body);
    const StepLoop parts = step_loop(kernel_, "part", {0, weights_.parts, 1});
    std::vector<Stmt> blocks = parts.around(multiply(results, tile, parts.position));
    for (size_t i = weights_.blocks.size(); i-- > 0;) {
      blocks = contraction_.serial(weights_.blocks[i], std::move(blocks));
    }
    append(body, std::move(blocks));
    append(body, finish(results, tile));
    return body;
  }

  // The offset of the part of row `r` of a tile.
  Affine offset(const Tile& tile, VarId r, const Affine& part) const {
    return Part{tile.first_row + Affine::variable(r), weights_.block_number(), part}.offset(*this);
  }

  // The index of the current block among those of all tiles. Not inlined, like
  // lower_column_tile().
  [[gnu::noinline]] Affine block(const Tile& tile) const {
    return tile.tile_index * weights_.block_count() + weights_.block_number();
  }

  // Adds the part's products, scaled, to the results.
  std::vector<Stmt> multiply(BufferRef results, const Tile& tile, const Affine& part) {
    const BufferRef sums = kernel_.add_register("sums", DType::I32, tile.rows * tile.width);
    const VarId r = kernel_.add_var("r", tile.rows);
    const LaneLoops lanes = lane_loops(kernel_, tile.width);
    const ExprId start =
        weights_.zero ? exprs_.load(sums_, DType::I32, offset(tile, r, part)) : constant(exprs_, 0);
    std::vector<Stmt> body =
        unrolled(r, stored(lanes, sums, Affine::variable(r, tile.width) + lanes.element, start));
    const int64_t unrolled_words = kMaxUnrolled / (tile.rows * weights_.pairs_in_word());
    for (const Segment& segment : split(weights_.words(), std::max<int64_t>(unrolled_words, 1))) {
      const StepLoop steps = step_loop(kernel_, "w", segment);
      const VarId u = kernel_.add_var("u", segment.width);
      append(body, steps.around(unrolled(
                       u, multiply_word(sums, tile, part, steps.position + Affine::variable(u)))));
    }
    append(body, scale(results, sums, tile, part));
    return body;
  }

  // Loads a word of each column and adds the products of its pairs to the sums.
  std::vector<Stmt> multiply_word(BufferRef sums, const Tile& tile, const Affine& part,
                                  const Affine& word) {
    const BufferRef words = kernel_.add_register("words", DType::I32, tile.width);
    const LaneLoops read = lane_loops(kernel_, tile.width);
    const int64_t stream = weights_.tiles[0].count * parts_ * weights_.words() * kLanes;
    Affine from = block(tile);
    from *= weights_.parts;
    from += part;
    from *= weights_.words();
    from += word;
    from *= kLanes;
    from += tile.from / kLanes * stream;
    if (read.unroll >= 0) from += Affine::variable(read.unroll, stream);
    from += Affine::variable(read.vector);
    std::vector<Stmt> body =
        stored(read, words, read.element, exprs_.load(words_, DType::I32, from));
    const VarId p = kernel_.add_var("p", weights_.pairs_in_word());
    append(body, unrolled(p, multiply_pairs(sums, words, tile, part, word, p)));
    return body;
  }

  // Adds the products of pair `p` of the words of all columns and the same pair of each row.
  std::vector<Stmt> multiply_pairs(BufferRef sums, BufferRef words, const Tile& tile,
                                   const Affine& part, const Affine& word, VarId p) {
    const BufferRef pairs = kernel_.add_register("pairs", DType::I32, tile.width);
    const BufferRef integers = kernel_.add_register("integers", DType::I32, kLanes);
    const LaneLoops extract = lane_loops(kernel_, tile.width), copy = lane_loops(kernel_, kLanes);
    const ExprId shifted =
        exprs_.apply(Op::ShiftRight, {exprs_.load(words, DType::I32, extract.element),
                                      exprs_.index(Affine::variable(p, weights_.bits))});
    const ExprId mask = constant(exprs_, ((1 << weights_.bits) - 1) * 0x10001);
    std::vector<Stmt> body =
        stored(extract, pairs, extract.element, exprs_.apply(Op::BitAnd, {shifted, mask}));
    const VarId r = kernel_.add_var("r", tile.rows);
    const VarId c = kernel_.add_var("c", tile.width / kLanes), v = kernel_.add_var("v", kLanes);
    const Affine integer = offset(tile, r, part) * (weights_.part_depth / 2) +
                           word * weights_.pairs_in_word() + Affine::variable(p);
    std::vector<Stmt> in_row =
        stored(copy, integers, copy.element, exprs_.load(integers_, DType::I32, integer));
    const Affine column = Affine::variable(c, kLanes) + Affine::variable(v);
    const Affine sum = Affine::variable(r, tile.width) + column;
    const ExprId total = loop::add_pair_products(
        exprs_, exprs_.load(pairs, DType::I32, column),
        exprs_.load(integers, DType::I32, Affine::variable(v)), exprs_.load(sums, DType::I32, sum));
    append(in_row, unrolled(c, single(loop::for_loop(v, LoopKind::Vector,
                                                     single(loop::store(sums, sum, total))))));
    append(body, unrolled(r, std::move(in_row)));
    return body;
  }

  // Adds the part's sums, times the unit of the rounded row elements and the scale of the weights,
  // to the results.
  std::vector<Stmt> scale(BufferRef results, BufferRef sums, const Tile& tile, const Affine& part) {
    const VarId r = kernel_.add_var("r", tile.rows);
    const LaneLoops lanes = lane_loops(kernel_, tile.width);
    const Affine at = Affine::variable(r, tile.width) + lanes.element;
    const Affine scale_offset = block(tile) * QuantizedWeights::kTile + tile.from + lanes.element;
    ExprId sum = exprs_.cast(exprs_.load(sums, DType::I32, at), DType::F32);
    if (!weights_.zero) {
      sum = exprs_.apply(Op::MulAdd, {exprs_.load(sums_, DType::F32, offset(tile, r, part)),
                                      exprs_.load(zeros_, DType::F32, scale_offset), sum});
    }
    const ExprId unit = exprs_.load(units_, DType::F32, offset(tile, r, part));
    const ExprId result = exprs_.apply(Op::MulAdd, {exprs_.apply(Op::Mul, {sum, unit}),
                                                    exprs_.load(scales_, DType::F32, scale_offset),
                                                    exprs_.load(results, DType::F32, at)});
    return unrolled(r, stored(lanes, results, at, result));
  }

  // Stores the results: full vectors, then the remaining columns one by one.
  std::vector<Stmt> finish(BufferRef results, const Tile& tile) {
    const int64_t valid_columns =
        std::min(tile.width, contraction_.extent(weights_.column) - tile.columns.begin - tile.from);
    std::vector<Stmt> body;
    for (const auto& [begin, width] :
         {std::pair(int64_t{0}, valid_columns / kLanes * kLanes),
          std::pair(valid_columns / kLanes * kLanes, valid_columns % kLanes)}) {
      if (width == 0) continue;
      const VarId r = kernel_.add_var("r", tile.rows);
      const LaneLoops lanes = lane_loops(kernel_, width);
      Index index = contraction_.index();
      if (weights_.row >= 0) {
        index[weights_.row] = tile.first_row + Affine::variable(r);
      }
      index[weights_.column] =
          tile.tile_index * QuantizedWeights::kTile + (tile.from + begin) + lanes.element;
      const ExprId result =
          exprs_.load(results, DType::F32, Affine::variable(r, tile.width) + begin + lanes.element);
      const bool vector = lanes.vector >= 0;
      append(body,
             unrolled(r, lanes.around(contraction_.finish(
                             index, result, vector ? Affine::variable(lanes.vector) : Affine(0),
                             vector ? kLanes : 1))));
    }
    return body;
  }

  Contraction& contraction_;
  QuantizedWeights& weights_;
  Kernel& kernel_;
  ExprBuilder& exprs_;
  int64_t rows_;
  int64_t parts_;  // of a row
  // By part, the sum of its integers: times -zero as I32, or times -1 as F32 where zeros differ.
  BufferRef sums_;
  BufferRef integers_, units_, words_, scales_, zeros_;
};

// Whether the inner dimensions of the rows are equivalent to one dimension with the step of the
// last, as row_element indexes them.
bool inner_dimensions_collapse(Contraction& contraction, const QuantizedWeights& weights) {
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

bool quantized_contract(Contraction& contraction, const VectorUnit& unit) {
  std::optional<QuantizedWeights> weights = QuantizedWeights::find(contraction);
  if (!weights || !inner_dimensions_collapse(contraction, *weights)) return false;
  // Otherwise floats are faster for many rows.
  const bool integers_win = unit.paired && !unit.doubled;
  const int64_t rows = weights->row < 0 ? 1 : contraction.extent(weights->row);
  if (!integers_win && rows > kTileRows) return false;
  QuantizedLowering(contraction, *weights).run();
  return true;
}

}  // namespace lathe::lower::cpu
