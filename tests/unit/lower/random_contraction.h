// Random graphs of one contraction and what may follow it: shared by the tests of schedules.
#pragma once

#include "lathe/graph/builder.h"
#include "random_graph.h"

namespace lathe::lower {

class RandomContraction : public graph::RandomGraph {
 public:
  using RandomGraph::RandomGraph;

  bool has_float16 = false;  // operands may be floats that are computed from 16 bits each

  // Small sizes, and those around the edges of tiles.
  int64_t size() { return below(4) == 0 ? 1 + below(3) : 1 + below(40); }

  graph::Graph product();
  // out[n, y, x, o] = sum of image[n, stride y + dy, stride x + dx, i] * taps[dy, dx, i, o].
  graph::Graph convolution();
  // out[y, x, c] = sum of image[y + dy, x + dx, c] * taps[dy, dx, c], or with taps[c, dy, dx].
  graph::Graph depthwise();

 private:
  graph::Tensor operand(graph::Builder& b, const char* name, const graph::Shape& shape);
  // By itself, with maps after it, or as an inplace update.
  void finish(graph::Builder& b, graph::Tensor sum, const graph::Shape& shape);
};

}  // namespace lathe::lower
