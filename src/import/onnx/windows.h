// Windows over the spatial axes of pictures [n, c, spatial…] as ONNX describes them, and
// convolutions by them.
#pragma once

#include "lathe/import/onnx/call.h"
#include "lathe/ops/window.h"

namespace lathe::onnx {

// All lists have one number for each spatial axis.
struct Window {
  Shape in, size, out;
  ops::WindowOptions options;  // paddings are explicit; `after` reaches the end of the last window
  Shape after;                 // what the model pads behind, the end of the last window aside
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

// x [n, c, spatial…] of floats as AveragePool makes it smaller.
Result<Tensor> average_pooled(Call& call, Tensor x);

}  // namespace lathe::onnx
