#include "cases.h"

#include <cmath>
#include <fstream>

#include "lathe/base/text.h"
#include "lathe/compile/shader_code.h"

namespace lathe::random_tests {

namespace {

constexpr size_t kAlignment = 8;

// Appends the data to `bytes`; returns its offset.
size_t append_bytes(std::string& bytes, const void* data, size_t size) {
  bytes.resize((bytes.size() + kAlignment - 1) / kAlignment * kAlignment);
  const size_t at = bytes.size();
  bytes.append(static_cast<const char*>(data), size);
  return at;
}

// {"NAME":[offset, bytes]…}
std::string json_data(const Named& named, std::string& bytes) {
  std::string json = "{";
  for (const auto& [name, values] : named) {
    const std::vector<std::byte> data = bytes_of(values);
    const size_t at = append_bytes(bytes, data.data(), data.size());
    append(json, json.size() > 1 ? "," : "");
    append_json(json, name);
    append(json, ":[", at, ',', data.size(), ']');
  }
  return json + '}';
}

}  // namespace

Folder::Folder(std::filesystem::path path) : path_(std::move(path)) {
  std::filesystem::remove_all(path_);
  std::filesystem::create_directories(path_);
}

// {"NAME":[offset, bytes, offset of the tolerances]…}
std::string Folder::json_expected(const Named& named, std::string& bytes) {
  std::string json = "{";
  for (const auto& [name, values] : named) {
    const std::vector<std::byte> data = bytes_of(values);
    std::vector<float> tolerances;
    for (const Bounded& each : values.elements) {
      // The expected number is rounded, too.
      const double rounding = each.is_sure() ? 0 : std::fabs(each.value) * 0x1p-24;
      tolerances.push_back(static_cast<float>(2 * each.error + rounding));
      unknown_ += each.is_finite() ? 0 : 1;
    }
    elements_ += static_cast<int64_t>(tolerances.size());
    const size_t at = append_bytes(bytes, data.data(), data.size());
    const size_t tolerance_offset =
        append_bytes(bytes, tolerances.data(), tolerances.size() * sizeof(float));
    append(json, json.size() > 1 ? "," : "");
    append_json(json, name);
    append(json, ":[", at, ',', data.size(), ',', tolerance_offset, ']');
  }
  return json + '}';
}

std::string Folder::begin_line(const Subject& subject, const std::vector<Outcome>& outcomes,
                               std::string& bytes) {
  std::string line =
      concat("{\"name\":\"", subject.name, "\",\"file\":\"", subject.name,
             ".bin\",\"states\":", json_data(subject.states, bytes), ",\"inputs\":[");
  for (size_t i = 0; i < subject.inputs.size(); ++i) {
    append(line, i == 0 ? "" : ",", json_data(subject.inputs[i], bytes));
  }
  append(line, "],\"expected\":[");
  for (size_t i = 0; i < outcomes.size(); ++i) {
    append(line, i == 0 ? "" : ",", "{\"outputs\":", json_expected(outcomes[i].outputs, bytes),
           ",\"states\":", json_expected(outcomes[i].states, bytes), '}');
  }
  return line + ']';
}

void Folder::end_line(const Subject& subject, std::string_view line, const std::string& bytes) {
  std::ofstream(path_ / concat(subject.name, ".bin"), std::ios::binary)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  append(lines_, line, "]}\n");
}

void Folder::add(const Subject& subject, const std::vector<Outcome>& outcomes,
                 const std::vector<Variant>& variants) {
  std::string bytes;
  std::string line = begin_line(subject, outcomes, bytes) + ",\"modules\":[";
  for (size_t i = 0; i < variants.size(); ++i) {
    const std::vector<uint8_t> module = variants[i].executable.module();
    const size_t at = append_bytes(bytes, module.data(), module.size());
    append(line, i == 0 ? "" : ",", "{\"variant\":\"", variants[i].name, "\",\"at\":", at,
           ",\"bytes\":", module.size(),
           ",\"metadata\":", compile::metadata(variants[i].executable), '}');
  }
  end_line(subject, line, bytes);
}

void Folder::add_shaders(const Subject& subject, const std::vector<Outcome>& outcomes,
                         const compile::Executable& shaders) {
  std::string bytes;
  std::string line = begin_line(subject, outcomes, bytes);
  append(line, ",\"shaders\":", compile::shader_metadata(shaders), ",\"constants\":[");
  for (const emit_wgsl::Segment& segment : compile::shaders(shaders).program.constants) {
    const size_t at = append_bytes(bytes, segment.bytes.data(), segment.bytes.size());
    append(line, line.ends_with('[') ? "" : ",", '[', segment.offset, ',', at, ',',
           segment.bytes.size(), ']');
  }
  end_line(subject, line, bytes);
}

void Folder::write() const { std::ofstream(path_ / "manifest.jsonl") << lines_; }

}  // namespace lathe::random_tests
