// Reports which language standard is required, before anything else of the package fails because
// of it.
#pragma once

#include <version>

#ifndef __cpp_lib_expected
#error "Tensorlathe needs std::expected of C++23: -std=c++23 with g++ 12, clang++ 19 or later"
#endif
