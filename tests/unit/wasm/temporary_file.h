// Files and commands for tests that run WABT's tools; ./dev setup installs them.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <span>
#include <string>
#include <vector>

namespace lathe::wasm {

inline bool has_command(const std::string& name) {
  return std::system(("command -v " + name + " >/dev/null 2>&1").c_str()) == 0;
}

// The file is removed when the program ends.
inline std::string temporary_path(const std::string& name) {
  static struct Paths {
    std::vector<std::string> all;
    ~Paths() {
      for (const std::string& path : all) std::remove(path.c_str());
    }
  } paths;
  return paths.all.emplace_back("/tmp/lathe_wasm_test_" + std::to_string(getpid()) + "_" + name);
}

inline std::string write_temporary(const std::string& name, std::span<const uint8_t> bytes) {
  const std::string path = temporary_path(name);
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  return path;
}

inline std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  char buffer[4096];
  for (size_t size; (size = fread(buffer, 1, sizeof buffer, pipe)) > 0;) text.append(buffer, size);
  pclose(pipe);
  return text;
}

inline const std::string kWabtFlags =
    " --enable-threads --enable-relaxed-simd --enable-tail-call --enable-multi-memory"
    " --enable-extended-const --enable-memory64 ";

}  // namespace lathe::wasm
