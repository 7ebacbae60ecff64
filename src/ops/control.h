// Branches and loops that depend on data: If and While, as loops with a condition.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "lathe/graph/builder.h"

namespace lathe::ops {

using graph::Tensor;

// A branch or loop body. The inputs of its graph are its arguments, then `captures`, tensors of the
// builder that it becomes part of.
struct Body {
  graph::Graph graph;
  std::vector<Tensor> captures;
};

// Traces a body: its arguments are tensors of `builder`, returns its results.
using BodyFunction =
    std::function<std::vector<Tensor>(graph::Builder& builder, std::span<const Tensor> arguments)>;

// The results of one of the bodies, which run on no arguments; the other one does not run. They
// must return as many tensors of the same types. The predicate is a bool scalar. As
// `lax.cond` of JAX and If of ONNX.
std::vector<Tensor> cond(Tensor predicate, const Body& then, const Body& otherwise);
// With bodies that are functions of the operands.
std::vector<Tensor> cond(Tensor predicate, std::span<const Tensor> operands,
                         const BodyFunction& then, const BodyFunction& otherwise);

// While the condition, a bool scalar, is true of the variables, they become what the body
// returns for them, of the same types; up to `max_iterations` times. As `lax.while_loop` of JAX and
// Loop of ONNX. It is differentiable only with a bound: what gradients need of each step is
// stacked.
std::vector<Tensor> while_loop(const Body& condition, const Body& body,
                               std::span<const Tensor> initial,
                               int64_t max_iterations = graph::kUnboundedSteps);
// The operands are the same in every step: what condition and body are called with last.
std::vector<Tensor> while_loop(const BodyFunction& condition, const BodyFunction& body,
                               std::span<const Tensor> initial, std::span<const Tensor> operands,
                               int64_t max_iterations = graph::kUnboundedSteps);

}  // namespace lathe::ops
