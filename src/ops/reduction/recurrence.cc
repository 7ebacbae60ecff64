#include "lathe/ops/reduction/recurrence.h"

#include "lathe/base/text.h"

namespace lathe::ops {

using graph::Builder;

ScanResult scan(Builder& builder, const ScanOptions& options, std::span<const Tensor> initial,
                std::span<const Tensor> xs, std::span<const Tensor> invariants,
                const std::function<ScanResult(const ScanStep&)>& body) {
  ScanResult result;
  if (!builder.ok()) return result;
  Builder inner("body");
  ScanStep step{inner, {}, {}, {}};
  std::vector<Tensor> operands;
  const auto add = [&](const Tensor& x, bool sliced, std::vector<Tensor>& to) {
    graph::Shape shape = x.shape();
    if (sliced && !shape.empty()) shape.erase(shape.begin());
    to.push_back(inner.input(concat("in", operands.size()), x.dtype(), std::move(shape)));
    operands.push_back(x);
  };
  for (const Tensor& x : initial) add(x, false, step.carried);
  for (const Tensor& x : xs) add(x, true, step.slices);
  for (const Tensor& x : invariants) add(x, false, step.invariants);
  const ScanResult outputs = body(step);
  size_t count = 0;
  for (const auto* tensors : {&outputs.carried, &outputs.stacked}) {
    for (const Tensor& x : *tensors) inner.output(concat("out", count++), x);
  }
  auto graph = std::move(inner).finish();
  if (!graph) {
    builder.error(std::move(graph.error().message));
    return result;
  }
  const graph::Repetition repetition{options.steps, static_cast<int>(initial.size()),
                                     static_cast<int>(xs.size())};
  const std::vector<Tensor> items =
      builder.loop(operands, repetition, options.reverse, std::move(*graph));
  const auto state_count = static_cast<std::ptrdiff_t>(outputs.carried.size());
  result.carried.assign(items.begin(), items.begin() + state_count);
  result.stacked.assign(items.begin() + state_count, items.end());
  return result;
}

}  // namespace lathe::ops
