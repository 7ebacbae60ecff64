#include "lathe/nn/sequential.h"

#include "lathe/base/text.h"

namespace lathe::nn {
namespace {

Status check_input(const Layer& layer) {
  if (!layer.input_shape().empty()) return check_shape("input shape", layer.input_shape());
  return fail("the first layer needs an input shape, for example [784]");
}

}  // namespace

Sequential& Sequential::add(const LayerPtr& layer) {
  if (failed()) return *this;
  if (layers().empty()) {
    if (const Status sound = check_input(*layer); !sound) {
      refuse(concat("layer \"", name_for(*layer), "\" (", layer->class_name(),
                    "): ", sound.error().message));
      return *this;
    }
    set_output(input(layer->input_shape()));
  }
  const ModelValue value = call(layer, outputs().front().value);
  if (!failed()) set_output(value);
  return *this;
}

}  // namespace lathe::nn
