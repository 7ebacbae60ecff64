// The layers that make one tensor of several: Add, Subtract, Multiply, Average, Maximum, Minimum,
// Concatenate, Dot.
#pragma once

#include "lathe/nn/spatial.h"

namespace lathe::nn {

struct MergeOptions {
  LATHE_LAYER_OPTIONS;

  template <class Field>
  void fields(Field&&) {}
};
using AddOptions = MergeOptions;
using SubtractOptions = MergeOptions;
using MultiplyOptions = MergeOptions;
using AverageOptions = MergeOptions;
using MaximumOptions = MergeOptions;
using MinimumOptions = MergeOptions;

// [batch, …] two or more times, of shapes that broadcast after the batch -> the common shape.
LayerPtr add(MergeOptions options = {});
LayerPtr subtract(MergeOptions options = {});  // of two
LayerPtr multiply(MergeOptions options = {});
LayerPtr average(MergeOptions options = {});
LayerPtr maximum(MergeOptions options = {});
LayerPtr minimum(MergeOptions options = {});

struct ConcatenateOptions {
  int32_t axis = -1;  // of the tensors, the batch included; -1 is the last one
  LATHE_LAYER_OPTIONS;

  // field("jsonKey", member) for every member of this struct.
  template <class Field>
  void fields(Field&& field) {
    field("axis", axis);
  }
};

// Tensors that are equal in all axes but one -> one after the other along that axis.
LayerPtr concatenate(ConcatenateOptions options = {});

struct DotOptions {
  Sizes axes = -1;  // of both, or one for each; the batch is axis 0
  bool normalize = false;
  LATHE_LAYER_OPTIONS;

  template <class Field>
  void fields(Field&& field) {
    field("axes", axes);
    field("normalize", normalize);
  }
};

// x [batch, x…], y [batch, y…] -> [batch, the other axes of x…, those of y…] ([batch, 1] if there
// are none): the sums of products along one axis of each; `normalize` yields the cosines.
LayerPtr dot(DotOptions options = {});

}  // namespace lathe::nn
