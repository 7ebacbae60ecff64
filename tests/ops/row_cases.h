// Cases generated from the table of scalar operations.
#pragma once

#include "harness.h"

namespace lathe::ops_tests {

// The operation over numbers of this dtype, edges and all exponents among them.
Status run_row(scalar::Op op, DType dtype, Manifest& manifest);

}  // namespace lathe::ops_tests
