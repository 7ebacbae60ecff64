#include "lathe/import/onnx/problems.h"

#include <algorithm>
#include <utility>

#include "lathe/base/text.h"
#include "lathe/import/onnx/order.h"

namespace lathe::onnx {

std::string_view clipped(std::string_view name) {
  size_t size = std::min<size_t>(name.size(), 200);
  // Characters of UTF-8 are not split.
  while (size < name.size() && size > 0 && (name[size] & 0xc0) == 0x80) --size;
  return name.substr(0, size);
}

std::string listed(const std::vector<std::string>& problems) {
  std::string text;
  for (size_t k = 0; k < std::min(problems.size(), kMaxListed); ++k) {
    append(text, k == 0 ? "" : "; ", problems[k]);
  }
  if (problems.size() > kMaxListed) append(text, "; … ", problems.size(), " in all");
  return text;
}

void Problems::add(const NodeProto& node, std::string what) {
  problems_.push_back(std::move(what));
  lost_.insert(node.outputs.begin(), node.outputs.end());
}

bool Problems::is_dependent(const NodeProto& node) {
  const auto is_lost = [&](std::string_view name) { return !name.empty() && lost_.contains(name); };
  if (lost_.empty() || std::ranges::none_of(reads_of(node), is_lost)) return false;
  lost_.insert(node.outputs.begin(), node.outputs.end());
  ++skipped_;
  return true;
}

std::string Problems::message() const {
  if (problems_.size() == 1) return problems_[0];
  std::string text =
      concat(problems_.size(), " nodes of the model are not supported: ", listed(problems_));
  if (skipped_ > 0) append(text, "; ", skipped_, " nodes that depend on them were not checked");
  return text;
}

}  // namespace lathe::onnx
