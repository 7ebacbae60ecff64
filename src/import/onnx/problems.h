// What is wrong with a model, all of it, so that one report names everything.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "lathe/base/result.h"
#include "lathe/import/onnx/model.h"

namespace lathe::onnx {

// So many problems are listed; of the others an error says only how many there are.
inline constexpr size_t kMostListed = 20;

// The beginning of a name of a file, as errors say it.
std::string_view clipped(std::string_view name);

// The first of them, one after the other, and how many there are where that is more.
std::string listed(const std::vector<std::string>& problems);

// The nodes of a model that cannot be written down. What nodes that follow from them would be,
// nobody knows: they are counted, not tried.
class Problems {
 public:
  bool empty() const { return problems_.empty(); }
  void add(const NodeProto& node, std::string what);
  // Whether the node reads what one of those gives, and so gives nothing either.
  bool follows(const NodeProto& node);
  // The only problem as it is, or a list.
  std::string text() const;

 private:
  std::vector<std::string> problems_;
  std::set<std::string, std::less<>> lost_;  // names
  size_t skipped_ = 0;
};

}  // namespace lathe::onnx
