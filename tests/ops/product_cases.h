// Products over types that are shorter than what they are computed in.
#pragma once

#include <string>
#include <vector>

#include "lathe/base/result.h"
#include "lathe/graph/graph.h"

namespace lathe::ops_tests {

struct ProductCase {
  std::string name;
  graph::Program program;
};

Result<std::vector<ProductCase>> short_products();

}  // namespace lathe::ops_tests
