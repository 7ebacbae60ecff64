// The algebraic rules as text, and the same parsed into patterns.
#pragma once

#include <string_view>
#include <vector>

#include "lathe/scalar/op.h"

namespace lathe::opt {

// A tree over operations, variables and numbers.
struct Pattern {
  enum class Kind { Apply, Variable, Number };
  Kind kind = Kind::Number;
  scalar::Op op = scalar::Op::Add;
  std::vector<Pattern> operands;
  char variable = 0;
  double number = 0;  // true is 1, false is 0
};

struct Rule {
  std::string_view text;
  Pattern from, to;
  bool floats_only = false;  // invalid for integers
};

// The rules whose root is this operation, in the order they are tried.
const std::vector<Rule>& algebra_rules(scalar::Op root);

}  // namespace lathe::opt
