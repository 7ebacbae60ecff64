// Collects the errors of a model, so that one report names all of them.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "lathe/base/result.h"
#include "lathe/import/onnx/model.h"

namespace lathe::onnx {

// Maximum number of listed problems; an error only has the count of the others.
inline constexpr size_t kMaxListed = 20;

// A name truncated for an error message.
std::string_view clipped(std::string_view name);

// The first of them, separated by semicolons, and the total count if there are more.
std::string listed(const std::vector<std::string>& problems);

// The nodes of a model that cannot be traced. Nodes that depend on them are
// skipped and counted.
class Problems {
 public:
  bool empty() const { return problems_.empty(); }
  void add(const NodeProto& node, std::string what);
  // Whether the node depends on one of those; then its outputs are unknown, too.
  bool is_dependent(const NodeProto& node);
  // The only problem unchanged, or a list.
  std::string message() const;

 private:
  std::vector<std::string> problems_;
  std::set<std::string, std::less<>> lost_;  // names
  size_t skipped_ = 0;
};

}  // namespace lathe::onnx
