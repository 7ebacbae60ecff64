// The verbs that look at any WebAssembly module: wat, validate, inspect.
#include <algorithm>

#include "lathe.h"
#include "lathe/base/json.h"
#include "lathe/base/text.h"
#include "lathe/wasm/decode.h"
#include "lathe/wasm/features.h"
#include "lathe/wasm/print.h"
#include "lathe/wasm/validate.h"
#include "lathe_onnx.h"

namespace lathe::tool {
namespace {

struct Loaded {
  std::vector<uint8_t> bytes;
  wasm::Module module;
};

std::unexpected<Error> in_file(const std::string& path, const Error& error) {
  return fail(concat(path, ": ", error.message));
}

Result<Loaded> decoded(const std::string& path, std::vector<uint8_t> bytes) {
  Loaded loaded{std::move(bytes), {}};
  auto module = wasm::decode(loaded.bytes);
  if (!module) return in_file(path, module.error());
  loaded.module = std::move(*module);
  return loaded;
}

Result<Loaded> load(const std::string& path) {
  LATHE_ASSIGN_OR_RETURN(std::vector<uint8_t> bytes, read_file(path));
  return decoded(path, std::move(bytes));
}

// Of files that may as well be models.
Status check_module(const std::string& path, const std::vector<uint8_t>& bytes) {
  if (text_of(bytes).starts_with(std::string_view("\0asm", 4))) return {};
  LATHE_TRY(reject_other_formats(path, bytes));
  return fail(concat(path, ": is no model.json, no ONNX model and no WebAssembly module"));
}

// The bytes were decoded before, so every length is good.
uint32_t read_uleb128(std::span<const uint8_t> bytes, size_t& at) {
  uint32_t value = 0;
  for (int shift = 0;; shift += 7) {
    const uint8_t byte = bytes[at++];
    value |= static_cast<uint32_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
}

void print_sections(std::span<const uint8_t> bytes) {
  constexpr std::string_view kNames[] = {"custom", "type",   "import",    "function", "table",
                                         "memory", "global", "export",    "start",    "element",
                                         "code",   "data",   "data count"};
  print_line("sections                     offset      bytes");
  for (size_t at = 8; at < bytes.size();) {
    const uint8_t id = bytes[at++];
    const uint32_t size = read_uleb128(bytes, at);
    std::string name(id < std::size(kNames) ? kNames[id] : "unknown");
    if (id == 0) {
      size_t name_at = at;
      const uint32_t length = read_uleb128(bytes, name_at);
      append(name, " \"", std::string(bytes.begin() + name_at, bytes.begin() + name_at + length),
             '"');
    }
    print_line(concat("  ", padded(name, 24), right_aligned(concat(at), 9),
                      right_aligned(concat(size), 11)));
    at += size;
  }
}

void print_imports_and_exports(const wasm::Module& module) {
  if (!module.imports.empty()) print_line("imports");
  for (const wasm::Import& import : module.imports) {
    print_line(concat("  ", padded(std::string(wasm::name(import.kind)), 10), import.module, ".",
                      import.name));
  }
  print_line("exports");
  for (const wasm::Export& each : module.exports) {
    print_line(concat("  ", padded(std::string(wasm::name(each.kind)), 10), each.name));
  }
}

void print_features(const wasm::Module& module) {
  const wasm::FeatureSet used = wasm::features_of(module);
  std::string text;
  for (const wasm::Feature feature : wasm::all_features()) {
    if (used.has(feature)) append(text, text.empty() ? "" : ", ", wasm::name(feature));
  }
  print_line(concat("features  ", text));
}

std::string string_of(const Json& value) {
  return value.is_string() ? value.string() : value.dump();
}

void print_buffers(std::string_view title, const Json& buffers) {
  for (const Json& buffer : buffers.values()) {
    const auto field = [&buffer](const char* key) {
      const Json* value = buffer.find(key);
      return value == nullptr ? "?" : string_of(*value);
    };
    print_line(concat("    ", title, padded(concat(field("name"), " "), 32),
                      padded(field("dtype"), 5), padded(field("shape"), 14), "@ ",
                      field("offset")));
  }
}

// The custom section that our compiler writes; printed as far as it has the expected form.
void print_metadata(const wasm::CustomSection& section) {
  const auto json =
      Json::parse({reinterpret_cast<const char*>(section.bytes.data()), section.bytes.size()});
  if (!json || !json->is_object()) return print_line("tensorlathe: metadata that is not readable");
  print_line(concat("tensorlathe: memory ", string_of(json->at("memoryBytes")), " bytes, ",
                    string_of(json->at("temporaryBytes")), " of them temporary"));
  for (const Json& entry : json->at("entries").values()) {
    print_line(concat("  entry ", string_of(entry.at("name"))));
    print_buffers("in  ", entry.at("inputs"));
    print_buffers("out ", entry.at("outputs"));
  }
  print_line("  states");
  print_buffers("", json->at("states"));
}

}  // namespace

Outcome<void> wat(const Arguments& arguments) {
  const std::string& path = arguments.files()[0];
  LATHE_ASSIGN_OR_RETURN(const auto bytes, read_file(path));
  const auto text = wasm::print(bytes);
  if (!text) return in_file(path, text.error());
  print_text(*text);
  return {};
}

Outcome<void> validate(const Arguments& arguments) {
  const std::string& path = arguments.files()[0];
  LATHE_ASSIGN_OR_RETURN(const Loaded loaded, load(path));
  if (const auto valid = wasm::validate(loaded.module); !valid) return in_file(path, valid.error());
  print_line(concat(path, ": valid"));
  return {};
}

Outcome<void> inspect(const Arguments& arguments) {
  const std::string& path = arguments.files()[0];
  if (is_onnx(path)) return inspect_onnx(arguments);
  LATHE_TRY(reject_flags(arguments, {"--shape", "--size", "--value"}, "ONNX models"));
  LATHE_ASSIGN_OR_RETURN(const std::string file, model_file(path));
  LATHE_ASSIGN_OR_RETURN(std::vector<uint8_t> bytes, read_file(file));
  constexpr std::string_view kSpace = " \t\r\n";
  const auto first = std::ranges::find_if(
      bytes, [&](uint8_t byte) { return kSpace.find(static_cast<char>(byte)) == kSpace.npos; });
  if (first != bytes.end() && *first == '{') return inspect_model(file, text_of(bytes), arguments);
  LATHE_TRY(check_module(file, bytes));
  LATHE_TRY(reject_flags(arguments, {"--sizes", "--json"}, "models"));
  LATHE_ASSIGN_OR_RETURN(const Loaded loaded, decoded(file, std::move(bytes)));
  const auto valid = wasm::validate(loaded.module);
  print_line(concat(path, ": ", loaded.bytes.size(), " bytes, ",
                    valid ? "valid" : concat("not valid: ", valid.error().message)));
  print_sections(loaded.bytes);
  print_imports_and_exports(loaded.module);
  print_features(loaded.module);
  for (const wasm::CustomSection& section : loaded.module.customs) {
    if (section.name == "tensorlathe") print_metadata(section);
  }
  return {};
}

}  // namespace lathe::tool
