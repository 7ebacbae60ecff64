// onnx_damaged FOLDER FIRST END: mutates the ONNX models of a folder, recursively, with each seed
// of the range, and reads, traces and runs the results. Prints each model that is slow.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "fuzz/onnx_mutate.h"
#include "fuzz/onnx_survive.h"

namespace {

constexpr double kLongest = 2;  // seconds
constexpr uintmax_t kLargest = 200000;

std::vector<std::byte> read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  return {bytes, bytes + text.size()};
}

}  // namespace

int main(int count, char** words) {
  if (count != 4) return std::fputs("onnx_damaged FOLDER FIRST END\n", stderr), 2;
  std::vector<std::string> paths;
  for (const auto& each : std::filesystem::recursive_directory_iterator(words[1])) {
    if (each.path().extension() == ".onnx" && each.file_size() < kLargest) {
      paths.push_back(each.path().string());
    }
  }
  std::sort(paths.begin(), paths.end());
  if (paths.empty()) return std::fputs("no models there\n", stderr), 2;
  const uint64_t end = std::strtoull(words[3], nullptr, 10);
  for (uint64_t seed = std::strtoull(words[2], nullptr, 10); seed < end; ++seed) {
    const std::string& path = paths[seed * 7919 % paths.size()];
    // In case of a crash the last printed seed is the cause.
    std::printf("\r%llu ", static_cast<unsigned long long>(seed));
    std::fflush(stdout);
    const auto model = lathe::onnx::mutated(read(path), seed);
    if (const char* dump_path = std::getenv("LATHE_KEEP")) {
      std::ofstream(dump_path, std::ios::binary)
          .write(reinterpret_cast<const char*>(model.data()), static_cast<long>(model.size()));
    }
    const auto start = std::chrono::steady_clock::now();
    lathe::onnx::survive(model);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    if (elapsed.count() > kLongest) std::printf("%s took %.1f s\n", path.c_str(), elapsed.count());
  }
  std::puts("");
}
