// Reverse-mode differentiation: adds to a graph the nodes that compute gradients of a scalar.
#pragma once

#include <span>
#include <vector>

#include "lathe/graph/builder.h"

namespace lathe::grad {

// d loss / d wrt[i], each of the shape of wrt[i]; zeros where the loss does not depend on it. The
// loss is an F32 scalar and every wrt is F32, otherwise an error. A reduction
// to the maximum or minimum passes its gradient to the first of equals. No gradient flows through
// casts to or from other dtypes, comparisons, floor, nearest and detach. Source: Griewank &
// Walther, Evaluating Derivatives, 2nd ed., chapter 3.
std::vector<graph::Tensor> gradients(graph::Builder& builder, graph::Tensor loss,
                                     std::span<const graph::Tensor> wrt);

// The same of targets of any shape: each has a seed of the same type, by which its gradients are
// multiplied; the sum over all of them. No gradient flows through a seed.
std::vector<graph::Tensor> vjp(graph::Builder& builder, std::span<const graph::Tensor> targets,
                               std::span<const graph::Tensor> seeds,
                               std::span<const graph::Tensor> wrt);

}  // namespace lathe::grad
