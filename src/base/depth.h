// How deep data of a file may nest.
#pragma once

namespace lathe {

// Every recursion over a file ends here: messages in messages, functions, branches and bodies of
// loops in each other, groups of regular expressions, JSON, printed graphs and loops. So many
// levels of the largest frames fit a stack of 1 MiB, as pages have.
inline constexpr int kMaxDepth = 256;

}  // namespace lathe
