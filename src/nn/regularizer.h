// Regularizers and constraints: the penalty of a weight, and what it becomes after an update.
#pragma once

#include "lathe/graph/builder.h"
#include "lathe/nn/tables.h"

namespace lathe::nn {

using graph::Tensor;

// A scalar that the loss grows by.
Tensor penalty(const Chosen<RegularizerKind>& regularizer, Tensor w);

// An error if the weight has no such axis.
Status check_constraint(const Chosen<ConstraintKind>& constraint, const graph::Shape& shape);
// w made to obey.
Tensor constrained(const Chosen<ConstraintKind>& constraint, Tensor w);

}  // namespace lathe::nn
