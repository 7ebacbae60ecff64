// Modules that must not validate, with the message. The core suite has the rest
// (tests/conformance/wasm_spec.sh).
#include "lathe/wasm/validate.h"

#include <gtest/gtest.h>

#include "lathe/wasm/assembler.h"
#include "lathe/wasm/features.h"

namespace lathe::wasm {
namespace {

using namespace handles;

std::string error_of(const Module& module, FeatureSet allowed = FeatureSet::all()) {
  const Status status = validate(module, allowed);
  return status ? "" : status.error().message;
}

Module module_of(std::vector<Instruction> body) {
  Module module;
  module.types = {{}};
  module.functions.resize(1);
  module.functions[0].code.instructions = std::move(body);
  return module;
}

TEST(Validate, RejectsAnUnknownType) {
  Module module = module_of({{.op = Opcode::end}});
  EXPECT_EQ(error_of(module), "");
  module.functions[0].type = 1;
  EXPECT_EQ(error_of(module), "unknown type 1");
}

TEST(Validate, ChecksLimits) {
  Module module;
  module.memories = {{.min = 65537}};
  EXPECT_EQ(error_of(module), "memory size must be at most 65536");
  module.memories = {{.min = 2, .max = 1}};
  EXPECT_EQ(error_of(module), "memory minimum must not be greater than maximum");
  module.memories = {{.min = 1, .shared = true}};
  EXPECT_EQ(error_of(module), "shared memory must have maximum");
  module.memories = {{.min = 65537, .is64 = true}};
  EXPECT_EQ(error_of(module), "");
}

TEST(Validate, ChecksConstantExpressions) {
  Module module;
  module.globals = {{{ValType::i32, false}, constant_code(Opcode::i64_const, 1)}};
  EXPECT_EQ(error_of(module), "end expects [i32], stack is [i64]");
  module.globals[0].init.instructions = {{.op = Opcode::global_get}, {.op = Opcode::end}};
  EXPECT_EQ(error_of(module), "unknown global 0");
  module.globals[0].init.instructions = {{.op = Opcode::nop}, {.op = Opcode::end}};
  EXPECT_EQ(error_of(module), "constant expression required");
}

TEST(Validate, RejectsDuplicateExports) {
  Module module = module_of({{.op = Opcode::end}});
  module.exports = {{"a", ExternalKind::function, 0}, {"a", ExternalKind::function, 0}};
  EXPECT_EQ(error_of(module), "duplicate export name \"a\"");
  module.exports = {{"a", ExternalKind::memory, 0}};
  EXPECT_EQ(error_of(module), "unknown memory 0 in export \"a\"");
}

TEST(Validate, RequiresDeclaredFunctionReferences) {
  Module module = module_of({{.op = Opcode::ref_func}, {.op = Opcode::drop}, {.op = Opcode::end}});
  EXPECT_EQ(error_of(module), "undeclared function reference 0 (instruction 0 of function 0)");
  module.exports = {{"f", ExternalKind::function, 0}};
  EXPECT_EQ(error_of(module), "");
}

// The core suite has these as text only: simd_address.wast:144, 152, address.wast:214.
TEST(Validate, RejectsOffsetsBeyondA32BitMemory) {
  for (Opcode op : {Opcode::v128_load, Opcode::v128_store, Opcode::i32_load}) {
    Module module = module_of({{.op = Opcode::unreachable},
                               {.op = op, .value = uint64_t{1} << 32},
                               {.op = Opcode::unreachable},
                               {.op = Opcode::end}});
    module.memories = {{.min = 1}};
    EXPECT_NE(error_of(module).find("offset out of range"), std::string::npos);
    module.memories = {{.min = 1, .is64 = true}};
    EXPECT_EQ(error_of(module), "");
  }
}

TEST(Validate, LimitsLocals) {
  Module module = module_of({{.op = Opcode::end}});
  module.functions[0].locals = {{kMaxLocals, ValType::i32}, {1, ValType::f32}};
  EXPECT_EQ(error_of(module), "50001 locals, the maximum is 50000 (instruction 0 of function 0)");
}

TEST(Validate, NamesTheFunction) {
  Module module = module_of({{.op = Opcode::drop}, {.op = Opcode::end}});
  module.names.functions[0] = "train";
  EXPECT_EQ(error_of(module), "drop expects [any], stack is [] (instruction 0 of \"train\")");
}

TEST(Validate, LetsUnreachableCodeBeAnything) {
  EXPECT_EQ(error_of(module_of({{.op = Opcode::unreachable},
                                {.op = Opcode::select},
                                {.op = Opcode::f32_add},
                                {.op = Opcode::f32_sqrt},
                                {.op = Opcode::drop},
                                {.op = Opcode::end}})),
            "");
  EXPECT_EQ(error_of(module_of({{.op = Opcode::unreachable},
                                {.op = Opcode::i32_const},
                                {.op = Opcode::f32_add},
                                {.op = Opcode::drop},
                                {.op = Opcode::end}})),
            "f32.add expects [f32 f32], stack is [i32] (instruction 2 of function 0)");
}

TEST(Features, AreWhatTheModuleUses) {
  ModuleBuilder builder;
  builder.add_memory({.min = 1, .max = 1, .shared = true});
  FunctionBuilder& f = builder.add_function("f", {}, {ValType::i32, ValType::i32});
  f(v128::const_, V128{})(i32x4::extract_lane, 0)(i32::const_, 1)(i32::extend8_s);
  const Result<Module> module = builder.finish();
  ASSERT_TRUE(module) << module.error().message;
  const FeatureSet expected = {Feature::mvp, Feature::threads, Feature::multi_value, Feature::simd,
                               Feature::sign_extension};
  EXPECT_EQ(features_of(*module), expected);
  EXPECT_EQ(error_of(*module, expected), "");
  EXPECT_EQ(error_of(*module, {Feature::mvp, Feature::threads, Feature::multi_value,
                               Feature::sign_extension}),
            "the module uses SIMD, which is not allowed");
}

TEST(Features, AddressesOf64BitsNeedMemory64) {
  ModuleBuilder builder;
  builder.add_memory({.min = 1, .is64 = true});
  FunctionBuilder& f = builder.add_function("f", {}, {});
  f(i64::const_, 0)(f32::load, {.offset = uint64_t{1} << 40})(drop);
  const Result<Module> module = builder.finish();
  ASSERT_TRUE(module) << module.error().message;
  EXPECT_TRUE(features_of(*module).has(Feature::memory64));
  ModuleBuilder narrow;
  narrow.add_memory({.min = 1});
  narrow.add_function("f", {}, {})(i32::const_, 0)(f32::load, {.offset = uint64_t{1} << 40})(drop);
  EXPECT_EQ(narrow.finish().error().message,
            "f32.load: offset out of range for a 32-bit memory (instruction 1 of \"f\")");
}

}  // namespace
}  // namespace lathe::wasm
