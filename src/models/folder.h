// Files in the folder of a model.
#pragma once

#include <string>
#include <string_view>

#include "lathe/base/result.h"

namespace lathe::models {

// Part of every error that says that a file is not to be read, as opposed to one that is missing.
inline constexpr std::string_view kInFolder = "in the folder of the model";

// The path, without links, of a file that a model names. Links may lead to files of its folder,
// and of the one where the model itself is behind links, as caches of downloads have it. Errors:
// the name or a link leaves them; what is missing or no regular file.
Result<std::string> file_in_folder(const std::string& model, std::string_view name);

}  // namespace lathe::models
