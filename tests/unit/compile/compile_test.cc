#include "lathe/compile/compile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "lathe/base/text.h"
#include "lathe/emit/wasm/origins.h"
#include "lathe/graph/builder.h"
#include "lathe/nn/layers/dense.h"
#include "lathe/nn/training/training.h"
#include "lathe/wasm/decode.h"
#include "lathe/wasm/encode.h"
#include "lathe/wasm/features.h"
#include "lathe/wasm/validate.h"

namespace lathe::compile {
namespace {

using graph::Builder;
using graph::DType;
using graph::Tensor;

graph::Program program_of(std::initializer_list<graph::Graph (*)()> entries) {
  graph::Program program;
  for (const auto build : entries) program.entries.push_back(build());
  return program;
}

graph::Graph doubled() {
  Builder b("run");
  const Tensor x = b.input("x \"1\"", DType::F32, {2, 3}), w = b.state("w", DType::F32, {3});
  b.output("y", x * 2.0f + w);
  return *std::move(b).finish();
}

std::string refusal(const graph::Program& program, const Options& options = {}) {
  const auto executable = compile(program, options);
  return executable ? "" : executable.error().message;
}

TEST(Compile, PassesRunInThisOrder) {
  const auto names = pass_names();
  const auto position = [&](std::string_view name) {
    const auto found = std::ranges::find(names, name);
    EXPECT_NE(found, names.end()) << name;
    return found - names.begin();
  };
  EXPECT_LT(position("simplify_algebra"), position("pad_operands"));
  EXPECT_LT(position("lower"), position("collapse_loops"));
  EXPECT_LT(position("collapse_loops"), position("expand_transcendentals"));
  EXPECT_LT(position("expand_transcendentals"), position("vectorize_loops"));
  EXPECT_LT(position("vectorize_loops"), position("plan_memory"));
  EXPECT_LT(position("plan_memory"), position("emit_wasm"));
  EXPECT_EQ(names.back(), "encode");
}

TEST(Compile, MetadataIsJson) {
  const auto executable = compile(program_of({doubled}), {});
  ASSERT_TRUE(executable) << executable.error().message;
  EXPECT_EQ(metadata(*executable),
            "{\"version\":1,\"memoryBytes\":384,\"temporaryBytes\":0,\"threads\":false,\"entries\":"
            "[{\"name\":\"run\","
            "\"threads\":1,\"work\":5,\"inputs\":[{"
            "\"name\":\"x \\\"1\\\"\",\"dtype\":\"f32\",\"shape\":[2,3],\"offset\":192}],"
            "\"outputs\":[{\"name\":\"y\",\"dtype\":\"f32\",\"shape\":[2,3],\"offset\":320}]}],"
            "\"states\":[{\"name\":\"w\",\"dtype\":\"f32\",\"shape\":[3],\"offset\":256}]}");
}

TEST(Compile, DumpsRequestedPasses) {
  Options options;
  options.dumps = {"before:lower", "after:encode"};
  std::vector<std::string> seen;
  options.on_dump = [&](std::string_view when, const CompilationState& state) {
    const std::string text = compile::text(state);
    seen.push_back(concat(when, ' ', text.substr(0, text.find(' '))));
  };
  EXPECT_EQ(refusal(program_of({doubled}), options), "");
  EXPECT_EQ(seen, (std::vector<std::string>{"before:lower graph", "after:encode (module\n"}));
}

TEST(Compile, RejectsUnknownDumps) {
  for (const char* request : {"lower", "after:nothing", "during:lower", "after:", ""}) {
    Options options;
    options.dumps = {request};
    const std::string message = refusal(program_of({doubled}), options);
    EXPECT_TRUE(message.starts_with(
        concat("dump '", request, "': expected before:PASS or after:PASS, PASS one of * ")))
        << message;
  }
}

TEST(Compile, RejectsContentsOfWrongSize) {
  Options options;
  options.contents = {{"v", {}}};
  EXPECT_EQ(refusal(program_of({doubled}), options), "the program has no state 'v'");
  options.contents = {{"w", std::vector<std::byte>(8)}};
  EXPECT_EQ(refusal(program_of({doubled}), options), "state 'w' of shape [3] has 12 bytes, not 8");
}

TEST(Compile, RejectsConflictingStates) {
  const auto other = [] {
    Builder b("other");
    b.output("w", b.state("w", DType::I32, {3}));
    return *std::move(b).finish();
  };
  EXPECT_EQ(refusal(program_of({doubled, +other})),
            "state 'w' is f32[3] in one entry and i32[3] in 'other'");
}

TEST(Compile, RejectsDuplicateExports) {
  EXPECT_EQ(refusal(program_of({doubled, doubled})), "entry 'run': another export has this name");
  const auto memory = [] {
    Builder b("go");
    b.output("y", b.state("memory", DType::F32, {1}));
    return *std::move(b).finish();
  };
  EXPECT_EQ(refusal(program_of({+memory})),
            "'memory' would be exported twice; rename a state, input or output");
  const auto duplicate_outputs = [] {
    Builder b("go");
    b.output("y", b.state("go.y", DType::F32, {1}));
    return *std::move(b).finish();
  };
  EXPECT_EQ(refusal(program_of({+duplicate_outputs})),
            "'go.y' would be exported twice; rename a state, input or output");
}

TEST(Compile, RejectsModelsThatExceedMemory) {
  const auto huge = [] {
    Builder b("go");
    const Tensor x = b.input("x", DType::F32, {1 << 16, 1 << 16});
    b.output("sum", graph::sum(x, {0, 1}));
    return *std::move(b).finish();
  };
  EXPECT_TRUE(refusal(program_of({+huge})).starts_with("the model needs 16384 MiB of memory"));
}

TEST(Compile, RejectsLoopsBeyond32Bits) {
  const auto endless = [] {
    Builder b("go");
    b.output("sum", graph::sum(b.cast(b.iota({3, int64_t{1} << 33}, 0), DType::F32), {1}));
    return *std::move(b).finish();
  };
  EXPECT_NE(refusal(program_of({+endless})), "");
}

TEST(Compile, ModulesUseOnlyWhatWasGranted) {
  const auto product = [] {
    Builder b("go");
    const Tensor x = b.input("x", DType::F32, {9, 17}), w = b.state("w", DType::F32, {17, 21});
    b.output("y", b.matmul(x, w));
    return *std::move(b).finish();
  };
  for (const char* features :
       {"", "simd", "relaxedSimd", "simd,relaxedSimd", "wideLanes", "simd,wideLanes"}) {
    Options options;
    options.features = *parse_features(features);
    options.verify = true;
    const auto executable = compile(program_of({+product}), options);
    ASSERT_TRUE(executable) << executable.error().message;
    const auto module = wasm::decode(executable->module());
    ASSERT_TRUE(module) << module.error().message;
    EXPECT_TRUE(wasm::validate(*module));
    const wasm::FeatureSet needed = wasm::features_of(*module);
    EXPECT_EQ(needed.has(wasm::Feature::simd), options.features.simd);
    EXPECT_EQ(needed.has(wasm::Feature::relaxed_simd),
              options.features.simd && options.features.relaxed_simd);
  }
}

TEST(Compile, OnlyLargeEntriesUseThreads) {
  const auto product = [](int64_t size) {
    Builder b(concat("go", size));
    const Tensor x = b.input("x", DType::F32, {size, size}),
                 w = b.input("w", DType::F32, {size, size});
    b.output("y", b.matmul(x, w));
    return *std::move(b).finish();
  };
  Options options;
  options.verify = true;
  options.features.threads = true;
  graph::Program both, small;
  both.entries = {product(256), product(16)};
  small.entries = {product(16)};
  const auto mixed = compile(both, options), standalone = compile(small, options);
  ASSERT_TRUE(mixed && standalone);
  EXPECT_TRUE(mixed->wasm().threads);
  EXPECT_GT(mixed->entries[0].threads, 1);
  EXPECT_EQ(mixed->entries[1].threads, 1);
  EXPECT_TRUE(wasm::features_of(*wasm::decode(mixed->module())).has(wasm::Feature::threads));
  EXPECT_FALSE(standalone->wasm().threads);
  EXPECT_FALSE(wasm::features_of(*wasm::decode(standalone->module())).has(wasm::Feature::threads));
}

TEST(Compile, FeaturesHaveNames) {
  const auto both = parse_features("relaxedSimd,simd"), none = parse_features("");
  ASSERT_TRUE(both && none);
  EXPECT_TRUE(both->simd && both->relaxed_simd);
  EXPECT_FALSE(none->simd || none->relaxed_simd);
  EXPECT_EQ(parse_features("simd,warp").error().message,
            "unknown feature \"warp\"; known: simd, relaxedSimd, threads, wideLanes, fastPairs");
}

TEST(Compile, CodeSizeIsLinearInDepth) {
  const auto bytes = [](int layers) {
    nn::Sequential model;
    for (int i = 0; i < layers; ++i) {
      model.add(nn::dense({.units = 64, .activation = "relu", .input_shape = {64}}));
    }
    const auto program =
        nn::build_program(model, {.loss = "meanSquaredError", .optimizer = "adam"});
    EXPECT_TRUE(program) << program.error().message;
    const auto executable = compile(*program, {});
    EXPECT_TRUE(executable) << executable.error().message;
    return executable->module().size();
  };
  const size_t shallow = bytes(8), deep = bytes(64);
  EXPECT_LT(deep, 10 * shallow);
  EXPECT_GT(deep, 4 * shallow);
}

// Two dense layers, "a" and "b", trained with these options; verified.
Executable compiled_classifier(nn::TrainingOptions training, bool timing) {
  nn::Sequential model;
  model.add(nn::dense({.units = 4, .activation = "relu", .input_shape = {8}, .name = "a"}));
  model.add(nn::dense({.units = 3, .activation = "softmax", .name = "b"}));
  training.loss = "softmaxCrossEntropy";
  training.optimizer = "adam";
  const auto program = nn::build_program(model, training);
  EXPECT_TRUE(program) << program.error().message;
  Options options;
  options.timing = timing;
  options.verify = true;
  auto executable = compile(*program, options);
  EXPECT_TRUE(executable) << executable.error().message;
  return *std::move(executable);
}

TEST(Compile, TimingIsTheSameModuleWithAClock) {
  const auto compiled = [](bool parts, bool timing) {
    return compiled_classifier({.timing = parts}, timing);
  };
  const Executable plain = compiled(false, false), timed = compiled(true, true);
  EXPECT_EQ(compiled(true, false).module(), plain.module());
  EXPECT_TRUE(wasm::decode(plain.module())->imports.empty());
  const auto module = wasm::decode(timed.module());
  ASSERT_TRUE(module && wasm::validate(*module));
  ASSERT_EQ(module->imports.size(), 1u);
  EXPECT_EQ(module->imports[0].name, "now");
  const auto is_part = [&](const char* part) {
    return std::ranges::find(timed.entries[0].parts, part) != timed.entries[0].parts.end();
  };
  for (const char* part : {"forward a", "backward a", "forward b", "backward b"}) {
    EXPECT_TRUE(is_part(part)) << part;
  }
  EXPECT_GE(timed.entries[0].times, plain.memory_bytes);
  EXPECT_TRUE(metadata(timed).find("\"parts\":[\"forward a\"") != std::string::npos);
}

TEST(Compile, EquationsAreSeparateParts) {
  const auto compiled = [](bool timing, bool equations) {
    return compiled_classifier({.timing = timing, .equations = equations}, timing);
  };
  EXPECT_EQ(compiled(false, true).module(), compiled(false, false).module());
  const std::vector<std::string> parts = compiled(true, true).entries[0].parts;
  EXPECT_GT(parts.size(), compiled(true, false).entries[0].parts.size());
  const auto is_there = [&](std::string_view layer, std::string_view equation) {
    return std::ranges::any_of(parts, [&](const std::string& part) {
      return part.starts_with(layer) && part.find(concat('\n', equation, '\n')) != part.npos;
    });
  };
  EXPECT_TRUE(is_there("forward a\n", "x·kernel"));
  EXPECT_TRUE(is_there("forward a\n", "bias"));
  EXPECT_TRUE(is_there("forward a\n", "relu"));
  EXPECT_TRUE(is_there("backward a\n", "x·dy"));
  EXPECT_TRUE(is_there("backward b\n", "dy·kernel"));
}

TEST(Compile, NotesOfAProgramAreInItsMetadata) {
  nn::Sequential model;
  model.add(nn::dense({.units = 3, .activation = "softmax", .input_shape = {8}}));
  nn::TrainingOptions training{.loss = "softmaxCrossEntropy", .metrics = {{"confusionMatrix"}}};
  const auto program = nn::build_program(model, training);
  ASSERT_TRUE(program) << program.error().message;
  const auto executable = compile(*program, {});
  ASSERT_TRUE(executable) << executable.error().message;
  EXPECT_TRUE(metadata(*executable)
                  .ends_with("],\"metrics\":[{\"output\":\"metric/confusionMatrix\",\"name\":"
                             "\"confusionMatrix\",\"final\":\"matrix\"}],\"watched\":[]}"));
}

TEST(Compile, ClockTimesEveryPass) {
  Options options;
  double now = 0;
  options.clock = [&now] { return now += 1; };
  const auto executable = compile(program_of({doubled}), options);
  ASSERT_TRUE(executable);
  EXPECT_GE(executable->times.size(), pass_names().size());
  EXPECT_EQ(executable->times.back().pass, "encode");
  EXPECT_EQ(executable->times.back().milliseconds, 1);
}

graph::Graph product() {
  Builder b("run");
  const Tensor x = b.input("x", DType::F32, {9, 7}), w = b.state("w", DType::F32, {7, 21});
  b.output("y", graph::exp(b.matmul(x, w)));
  b.output("sum", graph::sum(x, {0}));
  return *std::move(b).finish();
}

// Every instruction that stores to memory is in a statement of a kernel, whatever functions the
// kernel became.
void expect_origins(Features features) {
  const auto program = program_of({product});
  Options options;
  options.features = features;
  options.origins = true;
  options.worth_splitting = 0.1;
  const auto executable = compile(program, options);
  ASSERT_TRUE(executable) << executable.error().message;
  const std::vector<uint8_t> bytes = executable->module();
  const auto module = wasm::decode(bytes);
  ASSERT_TRUE(module) << module.error().message;
  const auto section =
      std::ranges::find(module->customs, emit_wasm::kOriginSection, &wasm::CustomSection::name);
  ASSERT_NE(section, module->customs.end());
  const nlohmann::json json = nlohmann::json::parse(section->bytes);
  ASSERT_GE(json["kernels"].size(), 2u);
  for (const auto& kernel : json["kernels"]) {
    EXPECT_EQ(kernel["entry"], "run");
    EXPECT_GE(kernel["node"], 0);
  }
  using Origin = std::array<int64_t, 3>;
  const auto origins = json["places"].get<std::vector<Origin>>();
  EXPECT_TRUE(std::ranges::is_sorted(origins));
  wasm::CodeOffsets offsets;
  EXPECT_EQ(wasm::encode(*module, offsets), bytes);
  std::set<int64_t> storing;
  for (size_t f = 0; f < module->functions.size(); ++f) {
    const auto& instructions = module->functions[f].code.instructions;
    for (size_t i = 0; i < instructions.size(); ++i) {
      const std::string_view text = wasm::info(instructions[i].op).text();
      if (text != "v128.store" && text != "f32.store") continue;
      const auto next = std::ranges::upper_bound(origins, int64_t{offsets.offsets[f][i]}, {},
                                                 [](const Origin& origin) { return origin[0]; });
      ASSERT_NE(next, origins.begin());
      EXPECT_GE(next[-1][1], 0);
      EXPECT_GE(next[-1][2], 0);
      storing.insert(next[-1][1]);
    }
  }
  EXPECT_EQ(storing.size(), json["kernels"].size());
}

TEST(Compile, OriginsMapInstructionsToStatements) {
  expect_origins({.simd = false});
  expect_origins({.simd = true});
  expect_origins({.simd = true, .threads = true});
  const auto executable = compile(program_of({product}), {});
  const auto module = wasm::decode(executable->module());
  for (const wasm::CustomSection& section : module->customs) {
    EXPECT_NE(section.name, emit_wasm::kOriginSection);
  }
}

}  // namespace
}  // namespace lathe::compile
