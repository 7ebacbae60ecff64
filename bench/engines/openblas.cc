// Multiplies with OpenBLAS what the suite of products multiplies, controlled by lines of text;
// bench/engines/native.mjs builds and drives it.
#include <cblas.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

// The numbers of value `id`, as fill() of bench/models/model.mjs makes them.
std::vector<float> fill(uint32_t id, size_t count) {
  uint32_t state = (id + 1) * 0x9e3779b1u;
  std::vector<float> data(count);
  for (float& each : data) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    each = static_cast<float>(static_cast<int32_t>(state) / 2147483648.0);
  }
  return data;
}

struct Product {
  int batch, rows, columns, depth, transpose_a, transpose_b;
  std::vector<float> a, b, c;

  void run() {
    for (int i = 0; i < batch; ++i) {
      cblas_sgemm(CblasRowMajor, transpose_a ? CblasTrans : CblasNoTrans,
                  transpose_b ? CblasTrans : CblasNoTrans, rows, columns, depth, 1,
                  a.data() + static_cast<size_t>(i) * rows * depth, transpose_a ? rows : depth,
                  b.data() + static_cast<size_t>(i) * depth * columns,
                  transpose_b ? depth : columns, 0,
                  c.data() + static_cast<size_t>(i) * rows * columns, columns);
    }
  }
};

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

bool prepare(Product& p) {
  size_t sample_count;
  if (scanf("%d %d %d %d %d %d %zu", &p.batch, &p.rows, &p.columns, &p.depth, &p.transpose_a,
            &p.transpose_b, &sample_count) != 7) {
    return false;
  }
  const size_t batch = static_cast<size_t>(p.batch);
  p.a = fill(0, batch * p.rows * p.depth);
  p.b = fill(1, batch * p.depth * p.columns);
  p.c.assign(batch * p.rows * p.columns, 0);
  p.run();
  double squares = 0;
  for (const float each : p.c) squares += static_cast<double>(each) * each;
  printf(R"({"length": %zu, "rms": %.9g, "samples": [)", p.c.size(),
         std::sqrt(squares / p.c.size()));
  for (size_t i = 0; i < sample_count; ++i) {
    size_t position;
    if (scanf("%zu", &position) != 1 || position >= p.c.size()) return false;
    printf("%s%.9g", i > 0 ? ", " : "", p.c[position]);
  }
  printf("]}\n");
  return true;
}

// Steps for about the requested number of milliseconds; small products are timed together.
bool measure(Product& p) {
  double for_ms;
  if (scanf("%lf", &for_ms) != 1) return false;
  const auto start = Clock::now();
  const auto cpu_start = clock();
  int steps = 0;
  printf(R"({"times": [)");
  do {
    const auto begin = Clock::now();
    int together = 0;
    do {
      p.run();
      ++together;
    } while (milliseconds_since(begin) < 1);
    printf("%s%.9g", steps > 0 ? ", " : "", milliseconds_since(begin) / together);
    steps += together;
  } while (milliseconds_since(start) < for_ms);
  printf(R"(], "steps": %d, "cpuMs": %.9g})"
         "\n",
         steps, 1000.0 * static_cast<double>(clock() - cpu_start) / CLOCKS_PER_SEC);
  return true;
}

}  // namespace

int main() {
  Product product;
  char command[16];
  while (scanf("%15s", command) == 1) {
    if (!(strcmp(command, "prepare") == 0 ? prepare(product) : measure(product))) return 1;
    fflush(stdout);
  }
  return 0;
}
