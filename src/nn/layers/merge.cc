#include "lathe/nn/layers/merge.h"

#include <algorithm>

#include "lathe/base/insert.h"
#include "lathe/base/text.h"
#include "lathe/ops/movement/movement.h"

namespace lathe::nn {
namespace {

using Combine = Tensor (*)(Tensor x, Tensor y);

std::string join_shapes(std::span<const Shape> shapes) {
  std::string text;
  for (const Shape& shape : shapes) append(text, text.empty() ? "" : ", ", bracketed(shape));
  return text;
}

// The shape that both broadcast to, aligned at their last axes.
Result<Shape> common_shape(Shape x, Shape y) {
  if (x.size() < y.size()) std::swap(x, y);
  while (y.size() < x.size()) insert_at(y, 0, 1);
  for (size_t axis = 0; axis < x.size(); ++axis) {
    if (x[axis] == 1) x[axis] = y[axis];
    if (y[axis] != 1 && y[axis] != x[axis]) return fail("");
  }
  return x;
}

// [batch, …] with axes of size 1 after the batch, so that it has `more` axes more.
Tensor with_more_axes(Tensor x, size_t more) {
  if (more == 0) return x;
  Shape shape = x.shape();
  for (size_t k = 0; k < more; ++k) insert_at(shape, 1, 1);
  return x.builder->reshape(x, std::move(shape));
}

bool is_there(Tensor mask) { return mask.builder != nullptr; }

// The masks that are of the first axes of their inputs; those of a custom layer may not
// be.
std::vector<Tensor> fitting(std::vector<Tensor> masks, std::span<const Tensor> inputs) {
  masks.resize(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!is_there(masks[i])) continue;
    const Shape mask = masks[i].shape(), input = inputs[i].shape();
    if (mask.size() > input.size() || !std::equal(mask.begin(), mask.end(), input.begin())) {
      masks[i] = {};
    }
  }
  return masks;
}

// The maximum rank of the masks; 0 where there are none.
size_t rank_of(std::span<const Tensor> masks) {
  size_t rank = 0;
  for (const Tensor& mask : masks) {
    if (is_there(mask)) rank = std::max(rank, mask.shape().size());
  }
  return rank;
}

// The mask for these axes; its last ones may be missing.
Tensor spread(Tensor mask, Shape shape) {
  Shape column = mask.shape();
  column.resize(shape.size(), 1);
  graph::Builder& builder = *mask.builder;
  return builder.broadcast_to(builder.reshape(mask, std::move(column)), std::move(shape));
}

// The mask of a result of this shape: a step counts where it does in every input.
Tensor steps_of_all(std::span<const Tensor> masks, Shape result) {
  Tensor all;
  result.resize(rank_of(masks));
  for (const Tensor& each : masks) {
    if (!is_there(each)) continue;
    const Tensor mask = spread(each, result);
    all = is_there(all) ? mask.builder->map(graph::Op::And, {{all, mask}}, "mask") : mask;
  }
  return all;
}

class Merge final : public Layer {
 public:
  Merge(std::string_view class_name, Combine combine, const MergeOptions& options)
      : Layer(options), class_name_(class_name), combine_(combine) {}

  std::string_view class_name() const override { return class_name_; }

  Result<LayerPlan> plan_call(std::span<const Shape> inputs) const override {
    if (class_name_ == "Subtract" && inputs.size() != 2) {
      return fail(concat("expects two inputs, got ", inputs.size()));
    }
    if (inputs.size() < 2) return fail("expects at least two inputs, got one");
    Shape shape = inputs[0];
    for (const Shape& input : inputs.subspan(1)) {
      auto common = common_shape(shape, input);
      if (!common) {
        return fail(concat("the inputs ", join_shapes(inputs), " do not broadcast to one shape"));
      }
      shape = std::move(*common);
    }
    return LayerPlan{{std::move(shape)}, {}};
  }

  std::vector<Tensor> build_call(std::span<const Tensor> inputs, std::span<const Tensor>,
                                 Context& context) const override {
    if (!std::ranges::all_of(inputs, &Tensor::valid)) return {Tensor{inputs[0].builder, {}}};
    size_t rank = 0;
    for (const Tensor& input : inputs) rank = std::max(rank, input.shape().size());
    Tensor result;
    std::vector<Tensor> masks = fitting(context.masks, inputs);
    for (size_t i = 0; i < inputs.size(); ++i) {
      const size_t more = rank - inputs[i].shape().size();
      const Tensor input = with_more_axes(inputs[i], more);
      result = i == 0 ? input : combine_(result, input);
      if (is_there(masks[i])) masks[i] = with_more_axes(masks[i], more);
    }
    if (class_name_ == "Average") result = result * (1.0f / static_cast<float>(inputs.size()));
    if (result.valid()) context.output_masks = {steps_of_all(masks, result.shape())};
    return {result};
  }

 private:
  std::string_view class_name_;
  Combine combine_;
};

class Concatenate final : public Layer {
 public:
  explicit Concatenate(const ConcatenateOptions& options) : Layer(options), axis_(options.axis) {}

  std::string_view class_name() const override { return "Concatenate"; }

  Result<LayerPlan> plan_call(std::span<const Shape> inputs) const override {
    if (inputs.size() < 2) return fail("expects at least two inputs, got one");
    const int rank = static_cast<int>(inputs[0].size()) + 1;
    const int axis = axis_ < 0 ? axis_ + rank : axis_;
    if (axis < 1 || axis >= rank) {
      return fail(concat("axis ", axis_, " must be one of 1 to ", rank - 1, ", or -1 to ", 1 - rank,
                         " from the end, for inputs ", join_shapes(inputs)));
    }
    const auto along = static_cast<size_t>(axis - 1);
    Shape shape = inputs[0];
    for (const Shape& input : inputs.subspan(1)) {
      Shape rest = input;
      if (rest.size() == shape.size()) rest[along] = shape[along];
      if (rest != shape) {
        return fail(concat("the inputs ", join_shapes(inputs), " differ in more than axis ", axis));
      }
      shape[along] += input[along];
    }
    return LayerPlan{{std::move(shape)}, {}};
  }

  std::vector<Tensor> build_call(std::span<const Tensor> inputs, std::span<const Tensor>,
                                 Context& context) const override {
    const Tensor result = ops::concatenate({inputs.begin(), inputs.end()}, axis_);
    if (result.valid())
      context.output_masks = {mask_of(inputs, fitting(context.masks, inputs), result)};
    return {result};
  }

 private:
  // Along an axis that masks have they follow each other, too, those of inputs without one all
  // true.
  Tensor mask_of(std::span<const Tensor> inputs, std::vector<Tensor> masks, Tensor result) const {
    const size_t rank = rank_of(masks);
    const int axis = axis_ < 0 ? axis_ + result.rank() : axis_;
    if (rank <= static_cast<size_t>(axis)) return steps_of_all(masks, result.shape());
    for (size_t i = 0; i < inputs.size(); ++i) {
      Shape shape = inputs[i].shape();
      shape.resize(rank);
      masks[i] = is_there(masks[i])
                     ? spread(masks[i], std::move(shape))
                     : result.builder->full(std::move(shape), scalar::Number::of(true));
    }
    return ops::concatenate(masks, axis);
  }

  int32_t axis_;
};

// The axis last, the batch first.
Tensor axis_last(Tensor x, int axis) {
  std::vector<int> order;
  for (int each = 0; each < x.rank(); ++each) {
    if (each != axis) order.push_back(each);
  }
  order.push_back(axis);
  return x.builder->permute(x, order);
}

// x / |x| along the last axis.
Tensor normalized(Tensor x) {
  const Tensor square = sum(x * x, {-1}, true);
  return x * (1.0f / sqrt(maximum(square, x.builder->scalar(1e-7f))));
}

class Dot final : public Layer {
 public:
  explicit Dot(DotOptions options) : Layer(options), options_(std::move(options)) {}

  std::string_view class_name() const override { return "Dot"; }

  Result<LayerPlan> plan_call(std::span<const Shape> inputs) const override {
    if (inputs.size() != 2) return fail(concat("expects two inputs, got ", inputs.size()));
    const auto& axes = options_.axes.values;
    if (axes.size() > 2) {
      return fail(concat("axes must be one integer or two, got ", bracketed(axes)));
    }
    Shape output;
    int64_t sizes[2];
    for (size_t i = 0; i < 2; ++i) {
      const int axis = axis_of(i, static_cast<int>(inputs[i].size()) + 1);
      if (axis < 1 || axis > static_cast<int>(inputs[i].size())) {
        return fail(concat("axes ", bracketed(axes), " must be axes of the inputs ",
                           join_shapes(inputs), ", 1-based"));
      }
      sizes[i] = inputs[i][axis - 1];
      Shape rest = inputs[i];
      rest.erase(rest.begin() + axis - 1);
      output.insert(output.end(), rest.begin(), rest.end());
    }
    if (sizes[0] != sizes[1]) {
      return fail(concat("axes ", bracketed(axes), " of the inputs ", join_shapes(inputs),
                         " have the sizes ", sizes[0], " and ", sizes[1]));
    }
    if (output.empty()) output = {1};
    return LayerPlan{{std::move(output)}, {}};
  }

  std::vector<Tensor> build_call(std::span<const Tensor> inputs, std::span<const Tensor>,
                                 Context&) const override {
    Tensor rows[2];
    Shape output = {0};
    for (size_t i = 0; i < 2; ++i) {
      if (!inputs[i].valid()) return {inputs[i]};
      Tensor x = axis_last(inputs[i], axis_of(i, inputs[i].rank()));
      if (options_.normalize) x = normalized(x);
      const Shape shape = x.shape();
      output[0] = shape[0];
      output.insert(output.end(), shape.begin() + 1, shape.end() - 1);
      rows[i] = x.builder->reshape(x, {shape[0], -1, shape.back()});
    }
    if (output.size() == 1) output.push_back(1);
    graph::Builder& builder = *rows[0].builder;
    return {builder.reshape(builder.matmul(rows[0], rows[1], false, true), output)};
  }

 private:
  int axis_of(size_t input, int rank) const {
    const auto& axes = options_.axes.values;
    const int64_t axis = axes.size() == 2 ? axes[input] : axes.front();
    return static_cast<int>(axis < 0 ? axis + rank : axis);
  }

  DotOptions options_;
};

LayerPtr merge(std::string_view class_name, Combine combine, const MergeOptions& options) {
  return std::make_shared<Merge>(class_name, combine, options);
}

}  // namespace

LayerPtr add(MergeOptions options) { return merge("Add", graph::operator+, options); }
LayerPtr subtract(MergeOptions options) { return merge("Subtract", graph::operator-, options); }
LayerPtr multiply(MergeOptions options) { return merge("Multiply", graph::operator*, options); }
LayerPtr average(MergeOptions options) { return merge("Average", graph::operator+, options); }
LayerPtr maximum(MergeOptions options) { return merge("Maximum", graph::maximum, options); }
LayerPtr minimum(MergeOptions options) { return merge("Minimum", graph::minimum, options); }

LayerPtr dot(DotOptions options) { return std::make_shared<Dot>(std::move(options)); }

LayerPtr concatenate(ConcatenateOptions options) { return std::make_shared<Concatenate>(options); }

}  // namespace lathe::nn
