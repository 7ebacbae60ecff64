// Runs the decoder, validator, encoder and printer over a manifest of the WebAssembly core suite.
// Usage: wasm_spec_test MANIFEST EXCEPTIONS OUT_DIR. Each line of the manifest is "kind
// file.wast:line path", kind being valid, malformed or invalid. Valid modules are written again to
// OUT_DIR with one module for each instruction, for an engine to accept.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>

#include "lathe/wasm/decode.h"
#include "lathe/wasm/encode.h"
#include "lathe/wasm/print.h"
#include "lathe/wasm/validate.h"
#include "unit/wasm/every_instruction.h"

namespace {

using namespace lathe;

std::vector<uint8_t> read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_bytes(const std::string& path, const char* data, size_t size) {
  std::ofstream(path, std::ios::binary).write(data, static_cast<std::streamsize>(size));
}

struct Exception {
  std::string proposal;  // its name, with '-' for spaces
  std::string reason;
  bool is_met = false;
};

// "file.wast:line proposal reason" per line; lines that start with # are comments.
std::map<std::string, Exception> read_exceptions(const char* path) {
  std::map<std::string, Exception> exceptions;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream fields(line);
    std::string place;
    Exception exception;
    fields >> place >> exception.proposal;
    std::getline(fields >> std::ws, exception.reason);
    exceptions[place] = exception;
  }
  return exceptions;
}

wasm::FeatureSet all_but(const std::string& proposal) {
  wasm::FeatureSet features = wasm::FeatureSet::all();
  for (wasm::Feature feature : wasm::all_features()) {
    std::string name(wasm::name(feature));
    std::ranges::replace(name, ' ', '-');
    if (name == proposal) features.remove(feature);
  }
  return features;
}

Result<wasm::Module> load(const std::vector<uint8_t>& bytes,
                          wasm::FeatureSet allowed = wasm::FeatureSet::all()) {
  LATHE_ASSIGN_OR_RETURN(wasm::Module module, wasm::decode(bytes));
  LATHE_TRY(wasm::validate(module, allowed));
  return module;
}

// Empty if the module passes, else what went wrong.
std::string check_valid(const std::vector<uint8_t>& bytes, const std::string& out_stem) {
  Result<wasm::Module> module = load(bytes);
  if (!module) return module.error().message;
  const std::vector<uint8_t> encoded = wasm::encode(*module);
  write_bytes(out_stem + ".wasm", reinterpret_cast<const char*>(encoded.data()), encoded.size());
  const std::string text = wasm::print(*module);
  write_bytes(out_stem + ".wat", text.data(), text.size());
  Result<wasm::Module> again = load(encoded);
  if (!again) return "after encoding: " + again.error().message;
  if (wasm::encode(*again) != encoded) return "encode(decode(bytes)) differs from the bytes";
  if (wasm::print(*again) != text) return "the text changes from encode to decode";
  return "";
}

std::string check_refused(const std::vector<uint8_t>& bytes) {
  Result<wasm::Module> module = load(bytes);
  return module ? "accepted" : "";
}

// One module for each row of the opcode table, for an engine to accept.
void write_every_instruction(const std::string& out_dir) {
  for (const wasm::OpcodeInfo& row : wasm::all_opcodes()) {
    const std::vector<uint8_t> bytes = wasm::encode(wasm::module_of(row));
    const std::string code = std::to_string(static_cast<uint32_t>(row.op));
    write_bytes(out_dir + "/row_" + code + "_" + std::string(row.text()) + ".wasm",
                reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: wasm_spec_test MANIFEST EXCEPTIONS OUT_DIR\n");
    return 2;
  }
  std::map<std::string, Exception> exceptions = read_exceptions(argv[2]);
  std::map<std::string, int> passed;
  int excepted = 0;
  int failed = 0;
  std::ifstream manifest(argv[1]);
  for (std::string line; std::getline(manifest, line);) {
    std::istringstream fields(line);
    std::string kind, place, path;
    fields >> kind >> place >> path;
    const std::vector<uint8_t> bytes = read_bytes(path);
    const size_t slash = path.rfind('/') + 1;
    const std::string stem = path.substr(slash, path.rfind('.') - slash);
    const std::string problem = kind == "valid"
                                    ? check_valid(bytes, std::string(argv[3]) + "/" + stem)
                                    : check_refused(bytes);
    if (problem.empty()) {
      ++passed[kind];
    } else if (exceptions.contains(place) && !load(bytes, all_but(exceptions[place].proposal))) {
      ++excepted;
      exceptions[place].is_met = true;
      std::printf("excepted %s %s: %s\n", kind.c_str(), place.c_str(),
                  exceptions[place].reason.c_str());
    } else {
      ++failed;
      std::printf("FAILED %s %s (%s): %s\n", kind.c_str(), place.c_str(), path.c_str(),
                  problem.c_str());
    }
  }
  for (const auto& [place, exception] : exceptions) {
    if (exception.is_met) continue;
    ++failed;
    std::printf("FAILED %s is listed as an exception but passes\n", place.c_str());
  }
  write_every_instruction(argv[3]);
  int total = 0;
  for (const auto& [kind, count] : passed) {
    std::printf("%s: %d passed\n", kind.c_str(), count);
    total += count;
  }
  std::printf("%d passed, %d failed, %d skipped\n", total, failed, excepted);
  return failed == 0 && total > 0 ? 0 : 1;
}
