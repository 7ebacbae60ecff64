// How deep data of a file may nest.
#pragma once

namespace lathe {

// Messages in messages, functions, branches and bodies of loops in each other, groups of regular
// expressions. So many levels of the largest frames fit a stack of 1 MiB, as pages have. JSON and
// printed loops have smaller, separate limits.
inline constexpr int kMaxDepth = 256;

}  // namespace lathe
