// Branches and loops that depend on data: If and While, as loops with a condition.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "lathe/graph/builder.h"

namespace lathe::ops {

using graph::Tensor;

// A part of a program that runs or does not. The inputs of its graph are what it is called with,
// then `captures`, tensors of the builder that it becomes part of.
struct Body {
  graph::Graph graph;
  std::vector<Tensor> captures;
};

// Written down by a function of what it is called with, which is of these tensors' types.
using BodyFunction =
    std::function<std::vector<Tensor>(graph::Builder& builder, std::span<const Tensor> given)>;

// The results of one of the bodies, which run on no arguments; the other one does not run. They
// must give as many tensors of the same types. The predicate is a bool without axes. As
// `lax.cond` of JAX and If of ONNX.
std::vector<Tensor> cond(Tensor predicate, const Body& then, const Body& otherwise);
// With bodies that are functions of the operands.
std::vector<Tensor> cond(Tensor predicate, std::span<const Tensor> operands,
                         const BodyFunction& then, const BodyFunction& otherwise);

// While the condition, a bool without axes, holds for the variables, they become what the body
// gives for them, of the same types; at most so many times. As `lax.while_loop` of JAX and Loop of
// ONNX. It has gradients where `most` is given; what they need of each step is kept for as many.
std::vector<Tensor> while_loop(const Body& condition, const Body& body,
                               std::span<const Tensor> initial,
                               int64_t most = graph::kUnboundedSteps);
// The operands are the same in every step: what condition and body are called with last.
std::vector<Tensor> while_loop(const BodyFunction& condition, const BodyFunction& body,
                               std::span<const Tensor> initial, std::span<const Tensor> operands,
                               int64_t most = graph::kUnboundedSteps);

}  // namespace lathe::ops
