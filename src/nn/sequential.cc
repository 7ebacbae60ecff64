#include "lathe/nn/sequential.h"

#include <utility>

#include "lathe/base/text.h"

namespace lathe::nn {
namespace {

Status check_input(const Layer& layer) {
  if (!layer.input_shape().empty()) return check_shape("input shape", layer.input_shape());
  return fail("the first layer needs an input shape, for example [784]");
}

}  // namespace

std::string row_input_name(std::string_view first) {
  std::string name = concat(first, "_input");
  return is_name(name) ? name : std::string{};
}

Sequential::Sequential(std::string name, uint64_t seed) : Model(std::move(name), seed) {}

Sequential& Sequential::name_input(std::string name) {
  input_name_ = std::move(name);
  return *this;
}

Sequential& Sequential::add(const LayerPtr& layer) {
  if (failed()) return *this;
#ifndef __wasm__  // pages have no pointers
  if (layer == nullptr) {
    record_error("add: the layer is null");
    return *this;
  }
#endif
  if (layers().empty()) {
    if (const Status sound = check_input(*layer); !sound) {
      record_error(concat("layer \"", name_for(*layer), "\" (", layer->class_name(),
                          "): ", sound.error().message));
      return *this;
    }
    if (input_name_.empty()) input_name_ = row_input_name(name_for(*layer));
    set_output(input(layer->input_shape(), input_name_));
    if (failed()) return *this;
  }
  const ModelValue value = call(layer, outputs().front().value);
  if (!failed()) set_output(value);
  return *this;
}

}  // namespace lathe::nn
