#include "lathe/nn/regularizer.h"

#include "lathe/base/text.h"
#include "lathe/ops/elementwise/arithmetic.h"
#include "lathe/ops/reduction/reductions.h"

namespace lathe::nn {
namespace {

constexpr float kEpsilon = 1e-7f;

Tensor total(Tensor x) { return ops::reduce_sum(x, std::nullopt, false); }

Tensor clipped(Tensor x, float low, float high) { return ops::clip_by_value(x, low, high); }

// The value of the row's parameter `axis`, if it has one.
std::optional<int> axis_of(const Chosen<ConstraintKind>& constraint) {
  const auto parameters = constraints()[static_cast<size_t>(constraint.kind)].parameters();
  if (parameters.empty()) return std::nullopt;
  return static_cast<int>(constraint.parameters[parameters.size() - 1]);
}

}  // namespace

Tensor penalty(const Chosen<RegularizerKind>& regularizer, Tensor w) {
  const auto p = floats(regularizer.parameters);
  switch (regularizer.kind) {
#define PENALTY(...) __VA_ARGS__
#define LATHE_REGULARIZER(name_, text_, penalty_, ...) \
  case RegularizerKind::name_:                         \
    return penalty_;
#include "lathe/nn/tables.def"
#undef PENALTY
  }
  return w;
}

Status check_constraint(const Chosen<ConstraintKind>& constraint, const graph::Shape& shape) {
  const std::optional<int> axis = axis_of(constraint);
  const int rank = static_cast<int>(shape.size());
  if (!axis || (*axis >= -rank && *axis < rank)) return {};
  return fail(concat("constraint ", constraints()[static_cast<size_t>(constraint.kind)].name,
                     ": axis ", *axis, " is not in shape ", bracketed(shape)));
}

Tensor constrained(const Chosen<ConstraintKind>& constraint, Tensor w) {
  const auto p = floats(constraint.parameters);
  const std::optional<int> axis = axis_of(constraint);
  const Tensor norm = axis ? graph::sqrt(sum(w * w, {*axis}, true)) : w;
  switch (constraint.kind) {
#define PROJECT(...) __VA_ARGS__
#define LATHE_CONSTRAINT(name_, text_, project_, ...) \
  case ConstraintKind::name_:                         \
    return project_;
#include "lathe/nn/tables.def"
#undef PROJECT
  }
  return w;
}

}  // namespace lathe::nn
