#include "lathe/models/onnx/model_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "lathe/base/text.h"
#include "lathe/models/folder.h"

namespace lathe::onnx {
namespace {

namespace fs = std::filesystem;

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

}  // namespace

Result<SharedBytes> read_file_bytes(const std::string& path) {
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
  for (const std::string& each : external_files(model)) {
    LATHE_ASSIGN_OR_RETURN(const std::string file, models::file_in_folder(path, each));
    LATHE_ASSIGN_OR_RETURN(const SharedBytes bytes, read_file_bytes(file));
    LATHE_TRY(add_external_file(model, each, bytes));
  }
  return {};
}

Result<ModelProto> load_model(const std::string& path) {
  LATHE_ASSIGN_OR_RETURN(SharedBytes bytes, read_file_bytes(path));
  auto model = read_model(std::move(bytes));
  if (!model) return fail(concat(path, ": ", model.error().message));
  if (auto done = load_external_files(*model, path); !done) {
    const std::string& why = done.error().message;
    return fail(why.starts_with(path) ? why : concat(path, ": ", why));
  }
  return model;
}

}  // namespace lathe::onnx
