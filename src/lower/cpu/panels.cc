#include "lathe/lower/cpu/panels.h"

#include <utility>

#include "lathe/base/text.h"
#include "lathe/lower/cpu/few_bits.h"

namespace lathe::lower::cpu {

using loop::Affine;
using loop::ExprId;
using loop::kLanes;
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

int64_t padded_length(const Tiling& tiling) {
  int64_t length = 0;
  for (const auto& [block, tiles] : tiling) {
    for (const Segment& tile : tiles) length += block.count * tile.count * tile.width;
  }
  return length;
}

}  // namespace

Panels::Panels(Contraction& contraction, int operand, int dimension, const Tiling& tiling)
    : contraction_(contraction), operand_(operand), dimension_(dimension) {
  length_ = padded_length(tiling);
  for (int d : contraction.reduced()) depth_ *= contraction.extent(d);
  int64_t size = length_ * depth_ * contraction.parts();
  EntryContext& context = contraction.context();
  const graph::Value value = contraction.node().operands[static_cast<size_t>(operand)];
  std::string key = concat(value.id, text(tiling), contraction.is_paired() ? " pairs of " : " of ",
                           contraction.access(operand, dimension));
  for (int d : contraction.kept()) {
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
  const auto [place, fresh] = context.panels.try_emplace(std::move(key), -1);
  if (fresh) {
    place->second =
        context.add_buffer(concat(context.graph.name, ".panels", context.panels.size() - 1),
                           contraction.panel_type(operand), size, loop::BufferRole::Temporary);
  }
  buffer_ = {loop::Space::Global, place->second};
  if (fresh && !unpack(tiling)) fill(tiling);
}

Affine Panels::address(const Index& index, const Affine& start, int64_t width) const {
  Affine address = start * depth_;
  int64_t step = width;
  for (size_t i = contraction_.reduced().size(); i-- > 0;) {
    const int d = contraction_.reduced()[i];
    address += index[static_cast<size_t>(d)] * step;
    step *= contraction_.extent(d);
  }
  step = length_ * depth_;
  for (size_t i = outer_.size(); i-- > 0;) {
    address += index[static_cast<size_t>(outer_[i])] * step;
    step *= contraction_.extent(outer_[i]);
  }
  return address;
}

ExprId Panels::at(const Index& index, const Affine& start, int64_t width, const Affine& lane) {
  loop::ExprBuilder& exprs = contraction_.exprs();
  const Affine first = (address(index, start, width) + lane) * contraction_.parts();
  const auto part = [&](int64_t i) {
    return exprs.load(buffer_, contraction_.panel_type(operand_), first + i);
  };
  const ExprId first_part = part(0);
  return contraction_.panel_whole(operand_, first_part,
                                  contraction_.is_paired() ? part(1) : first_part);
}

void Panels::fill(const Tiling& tiling) {
  loop::Kernel kernel;
  kernel.origin = contraction_.kernel().origin;
  kernel.vars = contraction_.kernel().vars;
  Nest nest(contraction_.context(), kernel);
  for (const auto& [block, tiles] : tiling) {
    const StepLoop blocks = step_loop(kernel, "block", block);
    std::vector<Stmt> body;
    for (const Segment& tile : tiles) append(body, fill_tile(tile, blocks.position, nest));
    append(kernel.body, blocks.around(std::move(body)));
  }
  for (size_t i = outer_.size(); i-- > 0;) {
    kernel.body = contraction_.serial(outer_[i], std::move(kernel.body));
  }
  contraction_.context().before.push_back(std::move(kernel));
}

namespace {

// Fills tiles of panels from words: a word gives a number of each of its columns at a time.
class Unpacking {
 public:
  Unpacking(Contraction& contraction, FewBits& weights, loop::Kernel& kernel)
      : contraction_(contraction),
        weights_(weights),
        kernel_(kernel),
        exprs_(kernel),
        words_(weights.pack_words()),
        scales_(weights.pack_scales()) {
    if (!weights.zero) zeros_ = weights.pack_zeros();
    for (const int d : weights.blocks) {
      block_ *= contraction.extent(d);
      block_ += contraction.index()[static_cast<size_t>(d)];
    }
  }

  // `store(k, lane, value)`, of number k of a block.
  template <class Store>
  std::vector<Stmt> tile(const Segment& tile, const Affine& start, const Store& store) {
    const int64_t pairs = weights_.pairs_in_word(), depth = weights_.part_depth;
    const int64_t words = std::max<int64_t>(kLanes / pairs, 1);  // whose pairs are whole chunks
    const int64_t numbers = 2 * words * pairs;
    const StepLoop parts = step_loop(kernel_, "part", {0, weights_.parts, 1});
    const StepLoop steps = step_loop(kernel_, "w", {0, depth / numbers, 1});
    const Affine word =
        ((block_ * weights_.parts + parts.position) * (weights_.words() / words) + steps.position) *
        words;
    const Affine in_block = start * weights_.block_count() + block_ * tile.width;
    std::vector<Stmt> body;
    for (int64_t i = 0; i < numbers; ++i) {
      const int64_t pair = i % (words * pairs), half = i / (words * pairs);
      const LaneLoops lanes = lane_loops(kernel_, tile.width);
      const Affine at = start * (weights_.block_count() * weights_.parts * weights_.words()) +
                        (word + pair / pairs) * tile.width + lanes.element;
      const auto number = [&](int64_t value) {
        return exprs_.constant(loop::Number::of(static_cast<int32_t>(value)));
      };
      ExprId value = exprs_.load(words_, loop::DType::I32, at);
      value = exprs_.apply(loop::Op::ShiftRight,
                           {value, number(pair % pairs * weights_.bits + 16 * half)});
      value = exprs_.apply(loop::Op::BitAnd, {value, number((1 << weights_.bits) - 1)});
      if (weights_.zero) value = exprs_.apply(loop::Op::Sub, {value, number(*weights_.zero)});
      value = exprs_.cast(value, loop::DType::F32);
      const auto of_block = [&](loop::BufferRef buffer) {
        return exprs_.load(buffer, loop::DType::F32, in_block + lanes.element);
      };
      if (!weights_.zero) value = exprs_.apply(loop::Op::Sub, {value, of_block(zeros_)});
      value = exprs_.apply(loop::Op::Mul, {value, of_block(scales_)});
      const int64_t place = pair / kLanes * (2 * kLanes) + half * kLanes + pair % kLanes;
      const Affine k = parts.position * depth + steps.position * numbers + place;
      std::vector<Stmt> stores = lanes.around({store(k, lanes.element, value)});
      if (weights_.depth % depth != 0) {
        Stmt inside = loop::if_inside({{k, weights_.depth}}, std::move(stores));
        stores = {std::move(inside)};
      }
      append(body, std::move(stores));
    }
    body = parts.around(steps.around(std::move(body)));
    for (size_t i = weights_.blocks.size(); i-- > 0;) {
      body = contraction_.serial(weights_.blocks[i], std::move(body));
    }
    return body;
  }

 private:
  Contraction& contraction_;
  FewBits& weights_;
  loop::Kernel& kernel_;
  loop::ExprBuilder exprs_;
  loop::BufferRef words_, scales_, zeros_;
  Affine block_ = Affine(0);
};

}  // namespace

bool Panels::unpack(const Tiling& tiling) {
  std::optional<FewBits> weights = FewBits::find(contraction_);
  if (!weights || weights->operand != operand_ || weights->column != dimension_) return false;
  weights->tiles.clear();
  for (const auto& [block, tiles] : tiling) {
    for (int64_t i = 0; i < block.count; ++i) {
      for (Segment tile : tiles) {
        tile.begin += block.begin + i * block.width;
        weights->tiles.push_back(tile);
      }
    }
  }
  loop::Kernel kernel;
  kernel.origin = contraction_.kernel().origin;
  kernel.vars = contraction_.kernel().vars;
  Unpacking unpacking(contraction_, *weights, kernel);
  for (const Segment& tile : weights->tiles) {
    const StepLoop steps = step_loop(kernel, "tile", tile);
    append(kernel.body,
           steps.around(unpacking.tile(tile, steps.position,
                                       [&](const Affine& k, const Affine& lane, ExprId value) {
                                         Index index = contraction_.index();
                                         for (const int d : weights->inner) {
                                           index[static_cast<size_t>(d)] = Affine(0);
                                         }
                                         index[static_cast<size_t>(weights->inner.back())] = k;
                                         const Affine at =
                                             address(index, steps.position, tile.width);
                                         return loop::store(buffer_, at + lane, value);
                                       }),
                        true));
  }
  contraction_.context().before.push_back(std::move(kernel));
  return true;
}

std::vector<Stmt> Panels::fill_tile(const Segment& tile, const Affine& block, Nest& nest) {
  loop::Kernel& kernel = nest.kernel();
  const StepLoop tiles = step_loop(kernel, "tile", tile);
  const Affine start = block + tiles.position;
  std::vector<Stmt> body;
  const auto copy = [&](int64_t width, int64_t lane, int64_t shift) {
    const LaneLoops lanes = lane_loops(kernel, width);
    Index index = contraction_.index();
    if (dimension_ >= 0) {
      index[static_cast<size_t>(dimension_)] = start + lanes.element + (lane - shift);
    }
    const Affine at = address(index, start, tile.width) + lanes.element + lane;
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
  if (vectors == 0) {
    copy(tile.width, 0, 0);
  } else if (tile.shift == 0) {
    copy(vectors * kLanes, 0, 0);
    // Over the elements before, which it writes again.
    if (tile.width % kLanes != 0) copy(kLanes, last, 0);
  } else {
    if (vectors > 1) copy(last, 0, 0);
    copy(kLanes, last, tile.shift);
  }
  for (size_t i = contraction_.reduced().size(); i-- > 0;) {
    body = contraction_.serial(contraction_.reduced()[i], std::move(body));
  }
  return tiles.around(std::move(body), !contraction_.reduced().empty());
}

}  // namespace lathe::lower::cpu
