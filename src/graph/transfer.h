// What a graph consists of, once for those that write it and those that read it.
#pragma once

#include "lathe/graph/graph.h"

namespace lathe::graph {

// `codec(x)` moves an integer, enumeration, truth, text or list; `data` elements of a constant;
// `body` the graph of a loop.
template <class Codec>
void transfer(Codec& codec, Affine& affine) {
  codec(affine.coefficients);
  codec(affine.offset);
}

template <class Codec>
void transfer(Codec& codec, AffineMap& map) {
  codec(map.axes);
}

template <class Codec>
void transfer(Codec& codec, Contraction& contraction) {
  codec(contraction.extents);
  codec(contraction.out);
  codec(contraction.lhs);
  codec(contraction.rhs);
}

template <class Codec>
void transfer(Codec& codec, Repetition& repetition) {
  codec(repetition.steps);
  codec(repetition.carried);
  codec(repetition.sliced);
  codec(repetition.condition);
}

template <class Codec>
void transfer(Codec& codec, Value& value) {
  codec(value.id);
}

template <class Codec>
void transfer(Codec& codec, Node& node) {
  codec(node.kind);
  codec(node.dtype);
  codec(node.shape);
  codec(node.operands);
  codec(node.op);
  codec(node.axes);
  codec(node.name);
  codec.data(node);
  codec(node.map);
  codec(node.maps);
  codec(node.contraction);
  codec(node.exclusive);
  codec(node.reverse);
  codec(node.loose);
  codec(node.repetition);
  codec.body(node);
  codec(node.item);
}

template <class Codec>
void transfer(Codec& codec, Output& output) {
  codec(output.name);
  codec(output.value);
}

template <class Codec>
void transfer(Codec& codec, Update& update) {
  codec(update.state);
  codec(update.value);
}

template <class Codec>
void transfer(Codec& codec, Graph& graph) {
  codec(graph.name);
  codec(graph.nodes);
  codec(graph.outputs);
  codec(graph.updates);
}

}  // namespace lathe::graph
