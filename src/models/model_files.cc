// Saved models as files in folders.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <set>

#include "lathe/base/file_name.h"
#include "lathe/base/json_writer.h"
#include "lathe/base/text.h"
#include "lathe/models/folder.h"
#include "lathe/models/network_writer.h"
#include "lathe/models/saved_model.h"
#include "lathe/models/saved_weights.h"
#include "lathe/models/training_config.h"

namespace lathe::models {
namespace {

namespace fs = std::filesystem;

constexpr size_t kShardBytes = size_t{4} << 20;

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

std::unexpected<Error> system_error(const std::string& path) {
  return fail(concat(path, ": ", std::strerror(errno)));
}

Result<std::vector<std::byte>> read_bytes(const std::string& path) {
  const File file(std::fopen(path.c_str(), "rb"));
  if (!file) return system_error(path);
  std::vector<std::byte> bytes, block(size_t{1} << 16);
  while (const size_t count = std::fread(block.data(), 1, block.size(), file.get())) {
    bytes.insert(bytes.end(), block.begin(), block.begin() + static_cast<ptrdiff_t>(count));
  }
  if (std::ferror(file.get())) return system_error(path);
  return bytes;
}

Status write_bytes(const std::string& path, std::span<const std::byte> bytes) {
  const std::string draft = concat(path, ".new");
  File file(std::fopen(draft.c_str(), "wb"));
  if (!file) return system_error(draft);
  const bool complete = std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size();
  const bool closed = std::fclose(file.release()) == 0;
  if (complete && closed && std::rename(draft.c_str(), path.c_str()) == 0) return {};
  auto error = system_error(path);
  std::remove(draft.c_str());
  return error;
}

// Of the weight data: other data have other names, so that no reader mixes files of two savings.
std::string tag_of(std::span<const std::byte> data) {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const std::byte byte : data) {
    hash = (hash ^ static_cast<uint64_t>(byte)) * 0x100000001b3;
  }
  std::string tag;
  for (int shift = 60; shift >= 0; shift -= 4) tag += "0123456789abcdef"[(hash >> shift) & 15];
  return tag;
}

// Whether a weight file is named as those of save_model, and of `model.save` of the package.
bool has_tag(std::string_view name) {
  constexpr size_t kTail = 21;  // -TAG.bin
  if (!name.starts_with("group1-shard") || !name.ends_with(".bin")) return false;
  if (name.size() <= kTail || name[name.size() - kTail] != '-') return false;
  const std::string_view tag = name.substr(name.size() - kTail + 1, 16);
  return tag.find_first_not_of("0123456789abcdef") == tag.npos && stays_in_folder(name);
}

// The weight files with tags that the model.json of a folder names, if there is one.
std::set<std::string> tagged_files(const fs::path& folder) {
  std::set<std::string> names;
  const auto bytes = read_bytes((folder / "model.json").string());
  if (!bytes) return names;
  const auto json = Json::parse({reinterpret_cast<const char*>(bytes->data()), bytes->size()});
  if (!json) return names;
  for (const Json& group : json->at("weightsManifest").values()) {
    for (const Json& path : group.at("paths").values()) {
      if (has_tag(path.string())) names.insert(path.string());
    }
  }
  return names;
}

}  // namespace

Result<SavedModel> load_model(const std::string& path, const LoadOptions& options) {
  std::error_code ignored;
  const bool is_folder = fs::is_directory(path, ignored);
  const fs::path file = is_folder ? fs::path(path) / "model.json" : fs::path(path);
  LATHE_ASSIGN_OR_RETURN(const auto bytes, read_bytes(file.string()));
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto read_sibling = [&](std::string_view name) -> Result<std::vector<std::byte>> {
    LATHE_ASSIGN_OR_RETURN(const std::string found, file_in_folder(file.string(), name));
    return read_bytes(found);
  };
  return read_model(text, file.string(), read_sibling, options);
}

Status save_model(const std::string& folder, const SavedModel& saved, const SaveOptions& options) {
  LATHE_ASSIGN_OR_RETURN(const Json topology, write_topology(saved.model));
  LATHE_TRY(check_names(saved.model, saved.states));
  LATHE_ASSIGN_OR_RETURN(const auto weights, weight_arrays(saved.model, saved.states));
  std::vector<NamedArray> gathered;
  std::string training;
  if (options.includes_optimizer && !saved.training.optimizer.empty()) {
    LATHE_ASSIGN_OR_RETURN(gathered, optimizer_arrays(saved.model, saved.training, saved.states));
    LATHE_ASSIGN_OR_RETURN(training, write_training_config(saved.training));
  }
  LATHE_ASSIGN_OR_RETURN(const auto encoded,
                         formats::encode_weights(weights, gathered, options.bits));
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) return fail(concat(folder, ": ", failed.message()));
  std::set<std::string> old = tagged_files(folder);
  const size_t count = (encoded.data.size() + kShardBytes - 1) / kShardBytes;
  const std::string tag = tag_of(encoded.data);
  std::vector<std::string> paths;
  for (size_t i = 0; i < count; ++i) {
    const std::string name = concat("group1-shard", i + 1, "of", count, '-', tag, ".bin");
    old.erase(name);
    const auto rest = std::span(encoded.data).subspan(i * kShardBytes);
    LATHE_TRY(write_bytes((fs::path(folder) / name).string(),
                          rest.first(std::min(kShardBytes, rest.size()))));
    paths.push_back(name);
  }
  JsonWriter json;
  json.begin_object().key("modelTopology").raw(topology.dump()).member("format", "layers-model");
  json.member("generatedBy", "tensorlathe").key("convertedBy").raw("null");
  if (!training.empty()) json.key("trainingConfig").raw(training);
  json.key("weightsManifest").begin_array().begin_object().member("paths", paths);
  json.key("weights").raw(encoded.specs).end_object().end_array().end_object();
  LATHE_TRY(write_bytes((fs::path(folder) / "model.json").string(),
                        std::as_bytes(std::span(json.json()))));
  for (const std::string& name : old) fs::remove(fs::path(folder) / name, failed);
  return {};
}

}  // namespace lathe::models
