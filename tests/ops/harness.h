// What every suite of ops_test shares: execution by the loop interpreter, comparison, and the
// manifests of modules that run.mjs and of shaders that run_webgpu.mjs runs.
#pragma once

#include <filesystem>
#include <map>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lathe/compile/shader_code.h"
#include "lathe/compile/target.h"
#include "lathe/graph/evaluate.h"

namespace lathe::ops_tests {

using graph::Array;
using graph::DType;
using Arrays = std::map<std::string, Array>;

struct Outcome {
  Arrays outputs;
  Arrays states;
  bool irregular = false;  // met numbers that WGSL does not promise; see loop::Memory
};

struct Variant {
  const char* name;
  compile::Features features;
  compile::Placement placement = compile::Placement::Fixed;
};
inline constexpr Variant kVariants[] = {
    {"scalar", {.simd = false, .relaxed_simd = false}},
    {"simd", {.simd = true, .relaxed_simd = false}},
    {"relaxed", {.simd = true, .relaxed_simd = true, .fast_pairs = true}},
    {"wide", {.simd = true, .relaxed_simd = false, .wide_lanes = true}},
    {"wide_relaxed", {.simd = true, .relaxed_simd = true, .wide_lanes = true}},
    {"threads", {.simd = true, .relaxed_simd = false, .threads = true, .fast_pairs = true}},
    {"threads_scalar", {.simd = false, .relaxed_simd = false, .threads = true}},
    {"threads_relaxed", {.simd = true, .relaxed_simd = true, .threads = true}},
    {"relocatable", {.simd = true, .relaxed_simd = false}, compile::Placement::Relocatable},
    {"relocatable_scalar", {.simd = false, .relaxed_simd = false}, compile::Placement::Relocatable},
    {"relocatable_threads",
     {.simd = true, .relaxed_simd = false, .threads = true},
     compile::Placement::Relocatable},
};
// Splits even what is far too small for it.
inline constexpr double kSplitAlways = 0.1;

Array random_array(DType dtype, const graph::Shape& shape, std::mt19937& random);

Status compare(std::string_view what, const Array& expected, const Array& actual);
Status compare(const Outcome& expected, const Outcome& actual);

// One case for run.mjs and run_webgpu.mjs. `expected` has an outcome for each entry, which starts
// from `inputs` and `states`.
struct Expectation {
  std::string name;
  Arrays inputs, states;
  std::vector<Outcome> expected;
  bool exact = false;      // else within the tolerance of compare()
  bool irregular = false;  // some outcome is
};

using Targets = std::vector<const compile::Target*>;
// The entry and another one, `grad`: "loss", the sum of its results times the inputs "weights of
// NAME", and the gradients "dNAME" of that by every input of floats.
Result<graph::Program> with_gradients(graph::Graph run);

// Whether no type has 64 bits: shaders reject or narrow these.
bool may_be_shaders(const graph::Program& program);

// Runs the program through the passes of the targets up to the emitter; after every pass over
// loops the interpreter must return the expected outcome. Records whether a run was irregular.
Status check_passes(const graph::Program& program, Expectation& test, const Targets& targets,
                    const lower::gpu::Schedules& thread_schedules = {},
                    const emit_wgsl::Limits& limits = {});

// The outcome of the loops of a program with one entry after transcendentals that WebAssembly does
// not have are expanded.
Result<Outcome> interpret_expanded(const graph::Program& program, const Expectation& test);

class Manifest {
 public:
  explicit Manifest(std::filesystem::path directory) : directory_(std::move(directory)) {}

  void add(const Expectation& test, std::string_view variant,
           const compile::Executable& executable);
  // Compiles the program once for each variant and, where it is for all of them, to shaders, under
  // several schedules.
  Status add(const Expectation& test, const graph::Program& program,
             std::span<const Variant> variants = kVariants);
  // The shaders, or the error.
  void add_shaders(const Expectation& test, const Result<compile::Executable>& shaders);
  void write() const;

 private:
  // Of a program with float16: interpreted and as shaders, for devices that have it.
  Status add_shaders_with_f16(Expectation test, const graph::Program& program);
  // Of a program with contractions: interpreted and as shaders, divided among threads in other
  // ways.
  Status add_scheduled_shaders(Expectation test, const graph::Program& program);
  static void append_shaders(std::string& lines, const Expectation& test,
                             const Result<compile::Executable>& shaders);

  std::filesystem::path directory_;
  std::string lines_;
  std::string shader_lines_;      // of webgpu.jsonl
  std::string compatible_lines_;  // of webgpu_compatible.jsonl: for the least of limits
};

}  // namespace lathe::ops_tests
