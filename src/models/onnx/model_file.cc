#include "lathe/models/onnx/model_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "lathe/base/text.h"

namespace lathe::onnx {
namespace {

namespace fs = std::filesystem;

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

bool is_inside(const fs::path& file, const fs::path& folder) {
  return std::ranges::mismatch(folder, file).in1 == folder.end();
}

// Whether links lead out of the folder.
Status check_place(const fs::path& file, const fs::path& model) {
  std::error_code missing, ignored;
  const fs::path real = fs::canonical(file, missing);
  if (missing) return fail(concat(file.string(), ": ", missing.message()));
  const fs::path folder = model.has_parent_path() ? model.parent_path() : fs::path(".");
  if (is_inside(real, fs::canonical(folder, ignored)) ||
      is_inside(real, fs::canonical(model, ignored).parent_path())) {
    return {};
  }
  return fail(concat(file.string(), ": a link that leaves the folder of the model"));
}

}  // namespace

Result<SharedBytes> read_whole(const std::string& path) {
  const std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "rb"));
  const auto error = [&] { return fail(concat(path, ": ", std::strerror(errno))); };
  if (!file) return error();
  std::vector<std::byte> bytes;
  std::error_code unknown;
  const auto size = fs::file_size(path, unknown);
  if (!unknown) bytes.reserve(size);
  std::vector<std::byte> block(size_t{1} << 20);
  while (const size_t count = std::fread(block.data(), 1, block.size(), file.get())) {
    bytes.insert(bytes.end(), block.begin(), block.begin() + static_cast<ptrdiff_t>(count));
  }
  if (std::ferror(file.get())) return error();
  return SharedBytes(std::move(bytes));
}

Status load_external_files(ModelProto& model, const std::string& path) {
  LATHE_ASSIGN_OR_RETURN(const auto files, external_files(model));
  for (const std::string& each : files) {
    const fs::path file = fs::path(path).parent_path() / each;
    LATHE_TRY(check_place(file, path));
    LATHE_ASSIGN_OR_RETURN(const SharedBytes bytes, read_whole(file.string()));
    LATHE_TRY(add_external_file(model, each, bytes));
  }
  return {};
}

Result<ModelProto> load_model(const std::string& path) {
  LATHE_ASSIGN_OR_RETURN(SharedBytes bytes, read_whole(path));
  auto model = read_model(std::move(bytes));
  if (!model) return fail(concat(path, ": ", model.error().message));
  if (auto done = load_external_files(*model, path); !done) {
    const std::string& why = done.error().message;
    return fail(why.starts_with(path) ? why : concat(path, ": ", why));
  }
  return model;
}

}  // namespace lathe::onnx
