// Quantized weights: a constant operand that is (number - zero) * scale,
// matched in its expression and packed into words that kernels read. Independent of the kernel's
// loops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "lathe/lower/contraction.h"
#include "lathe/lower/cpu/lanes.h"
#include "lathe/lower/segments.h"

namespace lathe::lower::cpu {

// The reduced dimensions are blocks (the outer ones) of `depth` numbers (the inner ones), which
// share scale and zero. Each block is divided into `parts` of `part_depth` numbers, the last of
// which are zero where there are too few.
//
// A word of 32 bits contains 16 / bits pairs (loop/analysis/pairs.h), pair p at bits p * bits and
// 16 + p * bits: of the numbers p % 4 and p % 4 + 4 of chunk p / 4 of eight, where p counts from
// the beginning of the part. Vectors are along columns: words are in the order of stream (each has
// one of `streams` pieces of each tile of columns), tile, block, part and index in it. A prefetcher
// follows several streams, and reads more of memory from them than from one.
class QuantizedWeights {
 public:
  static constexpr int64_t kTile = 16;  // columns

  // nullopt where the operand is not such weights, or the contraction no product of rows (one
  // dimension or none) and columns.
  static std::optional<QuantizedWeights> find(Contraction& contraction);

  // Whether an operand is computed from constants only.
  static bool is_computed_from_constants(Contraction& contraction, int operand);

  int operand = 1;               // the quantized one
  int row = -1, column = -1;     // dimensions of the contraction
  std::vector<int> blocks = {};  // dimensions, outermost first
  std::vector<int> inner = {};
  int64_t depth = 1;
  int bits = 8;
  int64_t parts = 1, part_depth = 0;
  std::optional<int32_t> zero = {};  // of all weights, in units of the packed integers
  // Of columns, in full vectors, which may end after the last column. A shift is as in
  // split_vectors.
  std::vector<Segment> tiles = {};
  int64_t streams = kTile / kLanes;

  int64_t block_count() const;
  loop::Affine block_number() const;  // under the loops of the blocks
  int64_t pairs_in_word() const { return 16 / bits; }
  int64_t words() const { return part_depth * bits / 32; }  // of a part

  // Constants: I32 words; F32 scales and, where `zero` is not set, zeros, by tile, block and
  // column. Contractions that read the operand in the same way share them.
  loop::BufferRef pack_words();
  loop::BufferRef pack_scales();
  loop::BufferRef pack_zeros();

 private:
  // Of a number: (element >> shift) & mask.
  struct Reading {
    loop::Expr load = {};
    loop::ExprId shift = -1;
    int32_t mask = -1;
  };
  // The offset of a number within its block, and its shift in the word.
  struct Slot {
    int64_t offset = -1;  // -1: it is zero
    int32_t shift = 0;
  };

  explicit QuantizedWeights(Contraction& contraction) : contraction_(&contraction) {}

  bool find_dimensions();
  bool decompose(loop::ExprId weight);
  bool find_reading(loop::ExprId numbers);
  bool find_bits();
  bool find_blocks();
  void find_zero();
  bool is_constant(loop::ExprId id) const;
  bool moves(loop::ExprId id, int dimension) const;
  int64_t columns() const { return column < 0 ? 1 : contraction_->extent(column); }

  const loop::Buffer& buffer_of(const loop::Expr& load) const;
  int32_t element(int64_t offset) const;
  std::vector<Slot> slots() const;  // of a block, in the order of words
  // Filled by fill(values, columns, to) for each tile and block: `columns` are those of the tile,
  // -1 where there is none.
  using Fill = std::function<void(std::vector<int64_t>& values, const std::vector<int64_t>& columns,
                                  std::byte* to)>;
  loop::BufferRef constant(const char* name, loop::DType dtype, int64_t per_column, int64_t pieces,
                           const Fill& fill);
  loop::BufferRef pack_by_block(const char* name, loop::ExprId expr, float offset);

  Contraction* contraction_;
  loop::ExprId scale_ = -1, zero_ = -1;
  Reading reading_;
  int32_t least_ = 0;  // of the numbers; words contain the difference from it
};

}  // namespace lathe::lower::cpu
