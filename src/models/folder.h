// Files in the folder of a model.
#pragma once

#include <string>
#include <string_view>

#include "lathe/base/result.h"

namespace lathe::models {

// Part of every error for a file that must not be read, as opposed to one that is missing.
inline constexpr std::string_view kInFolder = "in the folder of the model";

// The path, without links, of a file that a model names. Links may lead to files of its folder,
// and, if the model itself is a link, of its target's folder, as in download caches. Errors:
// the name or a link leads outside; what is missing or no regular file.
Result<std::string> file_in_folder(const std::string& model, std::string_view name);

}  // namespace lathe::models
