// Which file of a folder is a model, and formats of files that are none, by their first bytes.
#include <algorithm>
#include <filesystem>

#include "lathe.h"
#include "lathe/base/text.h"

namespace lathe::tool {
namespace {

using std::string_view_literals::operator""sv;

// The first that fits counts. `then` is searched in the first bytes after `begin`.
constexpr struct {
  std::string_view begin, then, what;
} kFormats[] = {
    {"\x89HDF", "",
     "a file of Keras (HDF5), which tl.loadLayersModel of the package reads; the model that it "
     "saves is read here"},
    {"\xff\xd8\xff", "", "a JPEG image"},
    {"\x89PNG", "", "a PNG image"},
    {"GIF8", "", "a GIF image"},
    {"RIFF", "WEBP", "a WebP image"},
    {"RIFF", "WAVE", "a WAV sound"},
    {"PK\x03\x04", ".pkl", "a file of PyTorch; torch.onnx.export writes an ONNX model of it"},
    {"PK\x03\x04", "", "a ZIP archive; tl.loadModel of the package reads those of Keras (.keras)"},
    {"\x1f\x8b", "", "a gzip archive; unpack it first"},
    {"", "\0\0{\""sv, "a safetensors file: weights only; `lathe compile MODEL --weights` reads it"},
    {"", "TFL3", "a TensorFlow Lite model; tf2onnx converts it to ONNX"},
    {"GGUF", "", "a GGUF file; only ONNX models and models of layers are read"},
    {"version https://git-lfs", "", "a pointer of Git LFS; `git lfs pull` gets the file itself"},
    {"<!doctype", "", "an HTML page"},
    {"<!DOCTYPE", "", "an HTML page"},
    {"<html", "", "an HTML page"},
};
// Where `then` ends at the latest.
constexpr size_t kBegin = 12, kArchiveBegin = 256;

}  // namespace

std::string onnx_in_folder(const std::string& folder) {
  std::string model;
  std::error_code failed;
  for (const auto& each : std::filesystem::directory_iterator(folder, failed)) {
    const std::string name = each.path().string();
    if (name.ends_with(".onnx") && (model.empty() || name < model)) model = name;
  }
  return model;
}

Result<std::string> model_file(const std::string& path) {
  if (!is_folder(path)) return path;
  const std::string json = (std::filesystem::path(path) / "model.json").string();
  std::error_code failed;
  if (std::filesystem::exists(json, failed)) return json;
  const std::string onnx = onnx_in_folder(path);
  return fail(concat(path, ": is a folder without model.json",
                     onnx.empty() ? "" : concat("; there is ", onnx)));
}

Status reject_other_formats(const std::string& name, const std::vector<uint8_t>& bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()),
                              std::min(bytes.size(), kArchiveBegin));
  for (const auto& [begin, then, what] : kFormats) {
    const size_t end = begin.starts_with("PK") ? kArchiveBegin : kBegin;
    if (text.starts_with(begin) && text.substr(0, end).contains(then)) {
      return fail(concat(name, ": is ", what));
    }
  }
  return {};
}

}  // namespace lathe::tool
