#include "lathe/nn/training/totals.h"

#include <string>
#include <vector>

#include "lathe/base/text.h"

namespace lathe::nn {

using graph::Builder;
using graph::DType;
using graph::Tensor;

void add_totals(Builder& builder, Tensor rows) {
  if (!builder.ok()) return;
  const std::string prefix = concat(kTotals, builder.graph().name, '/');
  const std::vector<graph::Output> outputs = builder.graph().outputs;
  const auto add = [&](std::string_view name, Tensor value) {
    const graph::Shape shape = value.shape();
    const Tensor total = builder.state(concat(prefix, name), DType::F32, shape);
    builder.update(total, total + value);
  };
  const Tensor count = builder.cast(rows, DType::F32);
  add("rows", count);
  for (const auto& [name, id] : outputs) {
    const Tensor value{&builder, id};
    if (value.dtype() != DType::F32) continue;
    add(name, name.starts_with("loss") ? value * count : value);
  }
}

Result<graph::Graph> build_reset(const graph::Graph& entry) {
  const std::string prefix = concat(kTotals, entry.name, '/');
  Builder builder(concat("reset_", entry.name));
  for (const graph::Node& node : entry.nodes) {
    if (node.kind != graph::Kind::State || !node.name.starts_with(prefix)) continue;
    const Tensor total = builder.state(node.name, DType::F32, node.shape);
    builder.update(total, zero(total));
  }
  return std::move(builder).finish();
}

}  // namespace lathe::nn
