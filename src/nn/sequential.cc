#include "nn/sequential.h"

#include <algorithm>

#include "base/text.h"

namespace lathe::nn {
namespace {

constexpr size_t kMaxNameLength = 100;
constexpr size_t kMaxRank = 8;
constexpr int64_t kAddressSpace = int64_t{1} << 32;

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.';
}

std::string quoted_layer(std::string_view name) { return concat("layer \"", name, "\""); }

}  // namespace

Status check_shape(std::string_view what, const Shape& shape) {
  if (shape.size() > kMaxRank) {
    return fail(concat(what, ": at most ", kMaxRank, " axes, got ", shape.size()));
  }
  int64_t bytes = sizeof(float);
  bool fits = true;
  for (const int64_t size : shape) {
    if (size < 1)
      return fail(concat(what, " ", bracketed(shape), ": every axis must be at least 1"));
    fits = fits && !__builtin_mul_overflow(bytes, size, &bytes) && bytes < kAddressSpace;
  }
  if (!fits) {
    return fail(concat(what, " ", bracketed(shape),
                       " does not fit the 4294967296 bytes that a module can address"));
  }
  return {};
}

int64_t PlacedLayer::parameter_count() const {
  int64_t count = 0;
  for (const Variable& weight : weights) count += graph::element_count(weight.shape);
  return count;
}

Sequential& Sequential::add(const LayerPtr& layer) {
  if (!message_.empty()) return *this;
  const std::string name = layer->name().empty() ? free_name(layer->class_name()) : layer->name();
  if (auto named = check_name(name); !named) {
    message_ = named.error().message;
  } else if (auto placed = place(layer, name); !placed) {
    message_ = concat(quoted_layer(name), " (", layer->class_name(), "): ", placed.error().message);
  } else {
    layers_.push_back(std::move(*placed));
  }
  return *this;
}

Status Sequential::status() const {
  if (!message_.empty()) return fail(concat("model \"", name_, "\": ", message_));
  if (layers_.empty()) return fail(concat("model \"", name_, "\" has no layers"));
  return {};
}

Result<PlacedLayer> Sequential::place(const LayerPtr& layer, const std::string& name) const {
  const Shape& given = layer->input_shape();
  if (layers_.empty() && given.empty()) {
    return fail("the first layer needs an input shape, for example [784]");
  }
  const Shape& input = layers_.empty() ? given : layers_.back().output;
  if (!given.empty() && given != input) {
    return fail(concat("input shape ", bracketed(given), " is not the output shape ",
                       bracketed(input), " of ", quoted_layer(layers_.back().name)));
  }
  TRY(check_shape("input shape", input));

  PlacedLayer placed{layer, name, input, {}, {}, {}};
  ASSIGN_OR_RETURN(LayerPlan plan, layer->plan(input));
  TRY(check_shape("output shape", plan.output));
  placed.output = std::move(plan.output);
  ASSIGN_OR_RETURN(placed.activation, find_activation(layer->activation()));
  for (Weight& weight : plan.weights) {
    TRY(check_shape(weight.name, weight.shape));
    auto initializer = find_initializer(weight.initializer);
    if (!initializer) return fail(concat(weight.name, ": ", initializer.error().message));
    placed.weights.push_back(
        {concat(name, '/', weight.name), std::move(weight.shape), *initializer, weight.trainable});
  }
  return placed;
}

Status Sequential::check_name(const std::string& name) const {
  if (name.size() > kMaxNameLength || !std::ranges::all_of(name, is_name_character)) {
    return fail(concat("layer name \"", std::string_view(name).substr(0, kMaxNameLength),
                       "\" must be 1 to ", kMaxNameLength, " of the characters a-z A-Z 0-9 _ - ."));
  }
  if (name == "optimizer") return fail("layer name \"optimizer\" is reserved");
  if (std::ranges::find(layers_, name, &PlacedLayer::name) != layers_.end()) {
    return fail(concat("two layers are called \"", name, "\""));
  }
  return {};
}

std::string Sequential::free_name(std::string_view class_name) const {
  std::string stem(class_name);
  for (char& c : stem) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  for (int number = 1;; ++number) {
    std::string name = concat(stem, '_', number);
    if (std::ranges::find(layers_, name, &PlacedLayer::name) == layers_.end()) return name;
  }
}

}  // namespace lathe::nn
