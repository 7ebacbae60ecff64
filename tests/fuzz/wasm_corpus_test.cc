// Every input of the fuzzer's corpus, in the ordinary build.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "fuzz/wasm_round_trip.h"

namespace {

TEST(WasmCorpus, SurvivesEveryInput) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(LATHE_WASM_CORPUS)) {
    SCOPED_TRACE(entry.path().string());
    std::ifstream file(entry.path(), std::ios::binary);
    const std::vector<uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
    lathe::wasm::round_trip(bytes);
    // Every beginning of a module is an input too.
    for (size_t size = 0; size < bytes.size(); size += 1 + size / 16) {
      lathe::wasm::round_trip(std::span(bytes).first(size));
    }
    ++count;
  }
  EXPECT_GT(count, 0);
}

}  // namespace
