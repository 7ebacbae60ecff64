#include "lathe/lower/cpu/panels.h"

#include <utility>

#include "lathe/base/text.h"
#include "lathe/lower/cpu/lanes.h"
#include "lathe/lower/cpu/quantized_weights.h"

namespace lathe::lower::cpu {

using loop::Affine;
using loop::ExprId;
using loop::Stmt;

namespace {

std::string text(const Tiling& tiling) {
  std::string out;
  const auto add = [&](const Segment& s) {
    out += concat(' ', s.begin, ':', s.count, 'x', s.width, '-', s.shift);
  };
  for (const Block& block : tiling) {
    add(block.block);
    for (const Segment& tile : block.tiles) add(tile);
  }
  return out;
}

std::vector<Segment> all_tiles(const Tiling& tiling) {
  std::vector<Segment> all;
  for (const auto& [block, tiles] : tiling) {
    for (int64_t i = 0; i < block.count; ++i) {
      for (const Segment& tile : tiles) {
        all.push_back(tile);
        all.back().begin += block.begin + i * block.width;
      }
    }
  }
  return all;
}

int64_t padded_length(const Tiling& tiling) {
  int64_t length = 0;
  for (const auto& [block, tiles] : tiling) {
    for (const Segment& tile : tiles) length += block.count * tile.count * tile.width;
  }
  return length;
}

}  // namespace

Panels::Panels(Contraction& contraction, int operand, int dimension, const Tiling& tiling,
               bool in_lanes)
    : contraction_(contraction),
      operand_(operand),
      dimension_(dimension),
      interleaved_(in_lanes && !contraction.is_paired() &&
                   contraction.panel_type(operand) == loop::DType::I16) {
  length_ = padded_length(tiling);
  for (int d : contraction.reduced()) depth_ *= contraction.extent(d);
  int64_t size = length_ * depth_ * contraction.parts();
  EntryContext& context = contraction.context();
  const graph::Value value = contraction.node().operands[operand];
  const int64_t order = interleaved_ ? 0 : contraction.parts();
  std::string key =
      concat(value.id, text(tiling), " | ", order, ' ', contraction.access(operand, dimension));
  for (int d : contraction.spatial()) {
    if (d == dimension || contraction.stride(operand, d) == Stride::None) continue;
    outer_.push_back(d);
    size *= contraction.extent(d);
  }
  for (const auto* dimensions : {&std::as_const(outer_), &contraction.reduced()}) {
    key += " |";
    for (int d : *dimensions) {
      key += concat(' ', contraction.extent(d), ' ', contraction.access(operand, d));
    }
  }
  const auto [panel, fresh] = context.panels.try_emplace(std::move(key), -1);
  if (fresh) {
    panel->second =
        context.add_buffer(concat(context.graph.name, ".panels", context.panels.size() - 1),
                           contraction.panel_type(operand), size, loop::BufferRole::Temporary);
  }
  buffer_ = {loop::Space::Global, panel->second};
  if (fresh) fill(tiling);
}

Affine Panels::address(const Index& index, const Affine& start, int64_t width) const {
  Affine address = start * depth_;
  int64_t step = width;
  for (size_t i = contraction_.reduced().size(); i-- > 0;) {
    const int d = contraction_.reduced()[i];
    address += index[d] * step;
    step *= contraction_.extent(d);
  }
  step = length_ * depth_;
  for (size_t i = outer_.size(); i-- > 0;) {
    address += index[outer_[i]] * step;
    step *= contraction_.extent(outer_[i]);
  }
  return address;
}

LaneLoops Panels::lanes(loop::Kernel& kernel, const Segment& tile) const {
  const bool interleaved = interleaved_ && tile.shift == 0 && tile.width % (2 * kLanes) == 0;
  return lane_loops(kernel, tile.width, interleaved);
}

ExprId Panels::at(const Index& index, const Affine& start, int64_t width, const Affine& offset) {
  loop::ExprBuilder& exprs = contraction_.exprs();
  const Affine first = (address(index, start, width) + offset) * contraction_.parts();
  const auto part = [&](int64_t i) {
    return exprs.load(buffer_, contraction_.panel_type(operand_), first + i);
  };
  const ExprId first_part = part(0);
  return contraction_.join_panel_parts(operand_, first_part,
                                       contraction_.is_paired() ? part(1) : first_part);
}

void Panels::fill(const Tiling& tiling) {
  loop::Kernel kernel;
  kernel.origin = contraction_.kernel().origin;
  kernel.vars = contraction_.kernel().vars;
  Nest nest(contraction_.context(), kernel);
  std::optional<QuantizedWeights> weights = QuantizedWeights::find(contraction_);
  if (weights && (weights->operand != operand_ || weights->column != dimension_ ||
                  weights->depth != weights->parts * weights->part_depth)) {
    weights.reset();
  }
  if (weights) {
    weights->tiles = all_tiles(tiling);
    weights->streams = 1;
  }
  for (const auto& [block, tiles] : tiling) {
    const StepLoop blocks = step_loop(kernel, "block", block);
    std::vector<Stmt> body;
    for (const Segment& tile : tiles) {
      append(body, weights ? unpack_tile(tile, blocks.position, nest, *weights)
                           : fill_tile(tile, blocks.position, nest));
    }
    append(kernel.body, blocks.around(std::move(body)));
  }
  for (size_t i = outer_.size(); i-- > 0;) {
    kernel.body = contraction_.serial(outer_[i], std::move(kernel.body));
  }
  contraction_.context().before.push_back(std::move(kernel));
}

// Their numbers, one of each column of the tile at a time.
std::vector<Stmt> Panels::unpack_tile(const Segment& tile, const Affine& block, Nest& nest,
                                      QuantizedWeights& weights) {
  loop::Kernel& kernel = nest.kernel();
  loop::ExprBuilder& exprs = nest.exprs();
  const loop::BufferRef words = weights.pack_words(), scales = weights.pack_scales();
  const loop::BufferRef zeros = weights.zero ? loop::BufferRef() : weights.pack_zeros();
  const int64_t pairs = weights.pairs_in_word();
  const int64_t together = std::max<int64_t>(kLanes / pairs, 1);  // words of full chunks
  const int64_t numbers = 2 * together * pairs;
  const StepLoop tiles = step_loop(kernel, "tile", tile);
  const StepLoop steps = step_loop(kernel, "w", {0, weights.depth / numbers, 1});
  const Affine start = block + tiles.position;
  const Affine number = weights.block_number();
  Index index = contraction_.index();
  for (const int d : weights.inner) index[d] = Affine(0);
  const auto constant = [&](int64_t value) {
    return exprs.constant(loop::Number::of(static_cast<int32_t>(value)));
  };
  std::vector<Stmt> body;
  for (int64_t i = 0; i < numbers; ++i) {
    const int64_t pair = i / 2, half = i % 2;
    const LaneLoops lanes = lane_loops(kernel, tile.width);
    const Affine of_block = (start * weights.block_count() + number * tile.width) + lanes.element;
    const Affine word = (number * (weights.depth / numbers) + steps.position) * together;
    const Affine at = start * (weights.block_count() * weights.depth / (2 * pairs)) +
                      (word + pair / pairs) * tile.width + lanes.element;
    ExprId value = exprs.apply(
        loop::Op::BitAnd,
        {exprs.apply(loop::Op::ShiftRight, {exprs.load(words, loop::DType::I32, at),
                                            constant(pair % pairs * weights.bits + 16 * half)}),
         constant((1 << weights.bits) - 1)});
    const ExprId zero = weights.zero ? exprs.constant(static_cast<float>(*weights.zero))
                                     : exprs.load(zeros, loop::DType::F32, of_block);
    value = exprs.apply(loop::Op::Sub, {exprs.cast(value, loop::DType::F32), zero});
    value = exprs.apply(loop::Op::Mul, {value, exprs.load(scales, loop::DType::F32, of_block)});
    index[weights.inner.back()] =
        steps.position * numbers + (pair / kLanes * (2 * kLanes) + half * kLanes + pair % kLanes);
    std::vector<Stmt> stores;
    stores.push_back(
        loop::store(buffer_, address(index, start, tile.width) + lanes.element, value));
    append(body, lanes.around(std::move(stores)));
  }
  body = steps.around(std::move(body));
  for (size_t i = weights.blocks.size(); i-- > 0;) {
    body = contraction_.serial(weights.blocks[i], std::move(body));
  }
  return tiles.around(std::move(body), true);
}

std::vector<Stmt> Panels::fill_tile(const Segment& tile, const Affine& block, Nest& nest) {
  loop::Kernel& kernel = nest.kernel();
  const StepLoop tiles = step_loop(kernel, "tile", tile);
  const Affine start = block + tiles.position;
  std::vector<Stmt> body;
  const auto copy = [&](const LaneLoops& lanes, int64_t lane, int64_t shift) {
    Index index = contraction_.index();
    if (dimension_ >= 0) {
      index[dimension_] = start + lanes.element + (lane - shift);
    }
    const Affine at = address(index, start, tile.width) + lanes.memory_index() + lane;
    const int64_t parts = contraction_.parts();
    const loop::VarId of = parts > 1 ? kernel.add_var("of", parts) : -1;
    const Affine part = of < 0 ? Affine(0) : Affine::variable(of);
    std::vector<Stmt> copies = lanes.around({loop::store(
        buffer_, at * parts + part, contraction_.panel_part(nest, operand_, index, part))});
    if (of >= 0) {
      Stmt both = loop::for_loop(of, loop::LoopKind::Unroll, std::move(copies));
      copies.clear();
      copies.push_back(std::move(both));
    }
    append(body, std::move(copies));
  };
  const int64_t vectors = tile.width / kLanes, last = tile.width - kLanes;
  const auto plain = [&](int64_t width, int64_t lane, int64_t shift) {
    if (width > 0) copy(lane_loops(kernel, width), lane, shift);
  };
  if (vectors == 0 || (tile.shift == 0 && tile.width % kLanes == 0)) {
    copy(lanes(kernel, tile), 0, 0);
  } else {
    // Without the shift, by which the last vector rewrites preceding elements.
    plain(tile.shift == 0 ? vectors * kLanes : last, 0, 0);
    plain(kLanes, last, tile.shift);
  }
  for (size_t i = contraction_.reduced().size(); i-- > 0;) {
    body = contraction_.serial(contraction_.reduced()[i], std::move(body));
  }
  return tiles.around(std::move(body), !contraction_.reduced().empty());
}

}  // namespace lathe::lower::cpu
