#include "lathe/import/onnx/problems.h"

#include <algorithm>
#include <utility>

#include "lathe/base/text.h"
#include "lathe/import/onnx/order.h"

namespace lathe::onnx {

namespace {

constexpr size_t kMostListed = 20;

}  // namespace

std::string listed(const std::vector<std::string>& problems) {
  std::string text;
  for (size_t k = 0; k < std::min(problems.size(), kMostListed); ++k) {
    append(text, k == 0 ? "" : "; ", problems[k]);
  }
  if (problems.size() > kMostListed) append(text, "; … ", problems.size(), " in all");
  return text;
}

void Problems::add(const NodeProto& node, std::string what) {
  problems_.push_back(std::move(what));
  lost_.insert(node.outputs.begin(), node.outputs.end());
}

bool Problems::follows(const NodeProto& node) {
  const auto is_lost = [&](std::string_view name) { return !name.empty() && lost_.contains(name); };
  if (lost_.empty() || std::ranges::none_of(reads_of(node), is_lost)) return false;
  lost_.insert(node.outputs.begin(), node.outputs.end());
  ++skipped_;
  return true;
}

std::string Problems::text() const {
  if (problems_.size() == 1) return problems_[0];
  std::string text =
      concat(problems_.size(), " nodes of the model are refused: ", listed(problems_));
  if (skipped_ > 0)
    append(text, "; what follows from them has not been looked at, ", skipped_, " nodes");
  return text;
}

}  // namespace lathe::onnx
