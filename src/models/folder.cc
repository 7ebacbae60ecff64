#include "lathe/models/folder.h"

#include <algorithm>
#include <filesystem>

#include "lathe/base/file_name.h"
#include "lathe/base/text.h"

namespace lathe::models {
namespace {

namespace fs = std::filesystem;

bool is_inside(const fs::path& file, const fs::path& folder) {
  return !folder.empty() && std::ranges::mismatch(folder, file).in1 == folder.end();
}

}  // namespace

Result<std::string> file_in_folder(const std::string& model, std::string_view name) {
  if (!stays_in_folder(name)) {
    return fail(
        concat(model, ": its file '", name, "' must be ", kInFolder, "; copy and rename it"));
  }
  const fs::path path = model;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const fs::path file = path.parent_path() / name;
  std::error_code missing, ignored;
  const fs::path real = fs::canonical(file, missing);
  if (missing) return fail(concat(file.string(), ": ", missing.message()));
  if (!is_inside(real, fs::canonical(folder, ignored)) &&
      !is_inside(real, fs::canonical(path, ignored).parent_path())) {
    return fail(concat(file.string(), ": a link to what is not ", kInFolder, "; copy the file"));
  }
  if (!fs::is_regular_file(real, ignored)) {
    return fail(concat(file.string(), ": is no regular file"));
  }
  return real.string();
}

}  // namespace lathe::models
