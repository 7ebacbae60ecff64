// The ways in which a program is compiled: features of engines, and schedules.
#pragma once

#include <string>
#include <vector>

#include "lathe/compile/compile.h"
#include "rng.h"

namespace lathe::random_tests {

struct Variant {
  std::string name;
  compile::Executable executable;
};

// The program for each feature set with the schedules of the compiler, and with schedules at
// random.
Result<std::vector<Variant>> variants(const graph::Program& program, Rng& rng);

}  // namespace lathe::random_tests
