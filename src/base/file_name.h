// Names of files that a model contains: relative to its folder, whether that is a folder or an
// address. js/src/base/file_name.ts has the same rule.
#pragma once

#include <string_view>

namespace lathe {

// Whether a name stays in its folder for everybody who may read it: file systems, URL parsers
// (which skip tabs and decode dots) and servers (which decode slashes, some more than once). A
// query after the name is part of an address.
bool stays_in_folder(std::string_view name);

}  // namespace lathe
