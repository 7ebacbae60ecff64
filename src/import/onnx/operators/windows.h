// Windows over the spatial axes of images [n, c, spatial…] as ONNX defines them, and
// convolutions over them.
#pragma once

#include "lathe/import/onnx/trace/call.h"
#include "lathe/ops/windows/window.h"

namespace lathe::onnx {

// All lists have one number for each spatial axis.
struct Window {
  Shape in, size, out;
  ops::WindowOptions options;  // paddings are explicit; `after` reaches the end of the last window
  Shape after;                 // the model's padding after x, excluding the last window's end
};

// From the attributes strides, dilations, pads, auto_pad and, if the operator has it, ceil_mode.
Result<Window> window_of(Call& call, Shape in, Shape size);

// [n, c, spatial…] as [n, spatial…, c], and back.
Tensor channels_last(Tensor x);
Tensor channels_first(Tensor x);
Shape spatial_sizes(const Shape& shape);  // without the first two

// x [n, c, spatial…] by weights [m, c / groups, size…] with attributes as Conv has them, as [n,
// out…, m] in the type that both are computed in.
Result<Tensor> convolved(Call& call, Tensor x, Tensor weights);

// AveragePool of x [n, c, spatial…] of floats.
Result<Tensor> average_pooled(Call& call, Tensor x);

}  // namespace lathe::onnx
