// The assembler: what its calls emit, and how it reports errors.
#include "lathe/wasm/assembler.h"

#include <gtest/gtest.h>

#include "lathe/wasm/decode.h"
#include "lathe/wasm/encode.h"
#include "lathe/wasm/print.h"
#include "temporary_file.h"

namespace lathe::wasm {
namespace {

using namespace handles;

template <class... Arguments>
concept Writes = requires(FunctionBuilder& f, Arguments... arguments) {
  f(arguments...);
};
static_assert(Writes<decltype(f32::add)>);
static_assert(!Writes<decltype(f32::add), int>);
static_assert(Writes<decltype(local::get), int>);
static_assert(!Writes<decltype(local::get)>);
static_assert(!Writes<decltype(i32::load), MemArg, int>);
static_assert(!Writes<decltype(v128::load8_lane), MemArg>);
static_assert(!Writes<decltype(i32::const_)>);

std::string error_of(ModuleBuilder& builder) {
  const Result<Module> module = builder.finish();
  return module ? "" : module.error().message;
}

TEST(Assembler, WritesAFunctionThatRuns) {
  ASSERT_TRUE(has_command("wasm-interp")) << "wasm-interp is not installed: run ./dev setup";
  ModuleBuilder builder;
  FunctionBuilder& factorial = builder.add_function("factorial", {ValType::i64}, {ValType::i64});
  factorial(local::get, 0)(i64::eqz)(if_, ValType::i64)(i64::const_, 1)(else_);
  factorial(local::get, 0)(local::get, 0)(i64::const_, 1)(i64::sub);
  factorial(call, factorial.index())(i64::mul)(end);
  FunctionBuilder& main = builder.add_function("main", {}, {ValType::i64});
  main(i64::const_, 10)(call, factorial.index());
  builder.export_function("main", main.index());
  const Result<Module> module = builder.finish();
  ASSERT_TRUE(module) << module.error().message;
  const std::string path = write_temporary("factorial.wasm", encode(*module));
  EXPECT_EQ(output_of("wasm-interp --run-all-exports " + path), "main() => i64:3628800\n");
}

TEST(Assembler, AddressesAbove2GiBAreI32Constants) {
  ModuleBuilder builder;
  const uint32_t memory = builder.add_memory({.min = 65536});
  builder.add_global(ValType::i32, false, 0xf0000000);
  builder.add_data(memory, 0xf0000000, std::vector<uint8_t>{1});
  const Result<Module> module = builder.finish();
  ASSERT_TRUE(module) << module.error().message;
  const Result<Module> redecoded = decode(encode(*module));
  ASSERT_TRUE(redecoded) << redecoded.error().message;
  EXPECT_EQ(redecoded->globals[0].init.instructions, module->globals[0].init.instructions);
}

TEST(Assembler, RunTimeFormWritesTheSameBytes) {
  const auto bytes_of = [](auto write_body) {
    ModuleBuilder builder;
    const uint32_t memory = builder.import_memory("env", "memory", {.min = 1});
    builder.export_memory("memory", memory);
    FunctionBuilder& f = builder.add_function("f", {ValType::i32}, {ValType::f32});
    const uint32_t sum = f.add_local(ValType::v128);
    EXPECT_EQ(sum, 1u);
    write_body(f);
    const Result<Module> module = builder.finish();
    EXPECT_TRUE(module) << module.error().message;
    return encode(*module);
  };
  const auto people = bytes_of([](FunctionBuilder& f) {
    f(block)(loop)(br, 1)(end)(end);
    f(local::get, 0)(v128::load, {.offset = 16, .align = 4})(local::set, 1);
    f(local::get, 0)(local::get, 1)(v128::load32_lane, {.offset = 8}, 3);
    f(v128::const_, V128{1, 2})(f32x4::add)(f32x4::extract_lane, 2);
  });
  const auto generator = bytes_of([](FunctionBuilder& f) {
    f.block().loop().br(1).end().end();
    f.op_index(Opcode::local_get, 0)
        .op_memory(Opcode::v128_load, {.offset = 16, .align = 4})
        .op_index(Opcode::local_set, 1)
        .op_index(Opcode::local_get, 0)
        .op_index(Opcode::local_get, 1)
        .op_memory_lane(Opcode::v128_load32_lane, {.offset = 8}, 3)
        .v128_const({1, 2})
        .op(Opcode::f32x4_add)
        .op_lane(Opcode::f32x4_extract_lane, 2);
    EXPECT_EQ(f.instruction_count(), 14u);
  });
  EXPECT_EQ(people, generator);
}

TEST(Assembler, ReportsTheFirstError) {
  ModuleBuilder builder;
  FunctionBuilder& f = builder.add_function("dot", {}, {});
  f(f32::const_, 1.0f)(i32::const_, 2)(f32::mul)(i64::add)(local::get, 9);
  EXPECT_EQ(error_of(builder),
            "f32.mul expects [f32 f32], stack is [f32 i32] (instruction 2 of \"dot\")");
}

TEST(Assembler, ShowsOnlyTheStackOfTheBlock) {
  ModuleBuilder builder;
  FunctionBuilder& f = builder.add_function("f", {}, {ValType::i32});
  f(i32::const_, 1)(block)(i32::eqz)(drop)(end);
  EXPECT_EQ(error_of(builder), "i32.eqz expects [i32], stack is [] (instruction 2 of \"f\")");
}

TEST(Assembler, FindsAResultTooMany) {
  ModuleBuilder builder;
  builder.add_function("f", {}, {ValType::i32})(i32::const_, 1)(i32::const_, 2);
  EXPECT_EQ(error_of(builder), "end expects [i32], stack is [i32 i32] (instruction 2 of \"f\")");
}

TEST(Assembler, FindsABlockLeftOpen) {
  ModuleBuilder builder;
  builder.add_function("f", {}, {})(block);
  EXPECT_EQ(error_of(builder), "the body ends inside a block (instruction 2 of \"f\")");
}

TEST(Assembler, RejectsAWrongImmediate) {
  ModuleBuilder builder;
  builder.add_function("f", {}, {}).op_index(Opcode::f32_add, 3);
  EXPECT_EQ(error_of(builder), "f32.add does not accept an index (instruction 0 of \"f\")");
}

TEST(Assembler, RejectsAnInvalidOpcode) {
  ModuleBuilder builder;
  builder.add_function("f", {}, {}).op(static_cast<Opcode>(0x27));
  EXPECT_EQ(error_of(builder), "there is no opcode 39 (instruction 0 of \"f\")");
}

TEST(Assembler, RejectsAnAlignmentThatIsNoPowerOfTwo) {
  ModuleBuilder builder;
  builder.add_memory({.min = 1});
  builder.add_function("f", {}, {})(i32::const_, 0)(i32::load, {.align = 3})(drop);
  EXPECT_EQ(error_of(builder),
            "i32.load: alignment 3 is not a power of two (instruction 1 of \"f\")");
}

TEST(Assembler, CallsFunctionsAddedLater) {
  ModuleBuilder builder;
  FunctionBuilder& first = builder.add_function("first", {}, {ValType::f64});
  first(i32::const_, 4)(call, 1);
  for (int i = 0; i < 100; ++i) {
    FunctionBuilder& later = builder.add_function("later", {ValType::i32}, {ValType::f64});
    later(local::get, 0)(f64::convert_i32_s);
  }
  first(f64::sqrt);
  EXPECT_EQ(error_of(builder), "");
}

TEST(Assembler, TypesWhatFollowsALateCall) {
  ModuleBuilder builder;
  FunctionBuilder& first = builder.add_function("first", {}, {});
  first(call, 1)(i32::eqz)(drop);
  builder.add_function("later", {}, {ValType::f64})(f64::const_, 1.0);
  EXPECT_EQ(error_of(builder),
            "i32.eqz expects [i32], stack is [f64] (instruction 1 of \"first\")");
}

TEST(Assembler, RejectsACallOfAnUndeclaredFunction) {
  ModuleBuilder builder;
  builder.add_function("f", {}, {})(call, 7);
  EXPECT_EQ(error_of(builder), "unknown function 7 (instruction 0 of \"f\")");
}

TEST(Assembler, RejectsAnImportAfterADefinition) {
  ModuleBuilder builder;
  builder.add_memory({.min = 1});
  builder.import_memory("env", "memory", {.min = 1});
  EXPECT_EQ(error_of(builder), "import \"memory\" comes after a definition of its kind");
}

TEST(Assembler, WritesEverySection) {
  ModuleBuilder builder;
  builder.set_name("everything");
  const uint32_t log = builder.import_function("env", "log", {{ValType::i32}, {}});
  const uint32_t base = builder.import_global("env", "base", {ValType::i32, false});
  const uint32_t memory = builder.add_memory({.min = 1, .max = 2, .shared = true});
  const uint32_t big = builder.add_memory({.min = 1, .is64 = true});
  const uint32_t table = builder.add_table({ValType::funcref, {.min = 4}});
  const uint32_t counter = builder.add_global(ValType::i64, true, -5);
  builder.add_global(false, 0.5f);
  builder.add_global(ValType::externref, false);
  FunctionBuilder& f = builder.add_function("f", {}, {});
  f(global::get, base)(call, log);
  f(global::get, counter)(global::set, counter);
  f(i32::const_, 0)(i32::const_, 0)(i32::const_, 2)(memory::init, 2, memory);
  f(i64::const_, 0)(i32::load, {.memory = big})(drop);
  f(i32::const_, 0)(call_indirect, builder.add_type({}), table);
  f(ref::func, f.index())(drop);
  const uint32_t targets[] = {0, 1};
  f(block)(i32::const_, 0)(br_table, targets, 1)(end);
  builder.export_function("f", f.index());
  builder.export_table("table", table);
  builder.export_memory("memory", memory);
  builder.export_global("counter", counter);
  builder.set_start(f.index());
  const std::vector<uint8_t> bytes = {'h', 'i', '"', 0};
  EXPECT_EQ(builder.add_data(memory, 8, bytes), 0u);
  builder.add_data(big, uint64_t{1} << 15, bytes);
  builder.add_elements(table, 1, {f.index(), log});
  builder.add_passive_elements({log});
  builder.declare_elements({f.index()});
  builder.add_custom("tensorlathe", bytes);
  builder.add_custom("first", bytes, Section::none);
  EXPECT_EQ(error_of(builder), "unknown data segment 2 (instruction 7 of \"f\")");
}

TEST(Assembler, RoundTripsEverySection) {
  ModuleBuilder builder;
  builder.set_name("everything");
  const std::vector<uint8_t> bytes = {'h', 'i', '"', 0};
  const uint32_t memory = builder.add_memory({.min = 1, .max = 2});
  const uint32_t segment = builder.add_passive_data(bytes);
  const uint32_t table = builder.add_table({ValType::funcref, {.min = 4}});
  FunctionBuilder& f = builder.add_function(std::string(300, 'n'), {}, {});
  f(i32::const_, 0)(i32::const_, 0)(i32::const_, 2)(wasm::handles::memory::init, segment, memory);
  builder.export_function(std::string(300, 'x'), f.index());
  builder.set_start(f.index());
  builder.add_elements(table, 1, {f.index()});
  builder.declare_elements({f.index()});
  builder.add_custom("tensorlathe", bytes);
  builder.add_custom("first", bytes, Section::none);
  const Result<Module> module = builder.finish();
  ASSERT_TRUE(module) << module.error().message;
  const std::vector<uint8_t> encoded = encode(*module);
  const Result<Module> decoded = decode(encoded);
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(encode(*decoded), encoded);
  EXPECT_EQ(print(*decoded), print(*module));
  EXPECT_EQ(decoded->names, module->names);
  EXPECT_EQ(decoded->exports[0].name, std::string(300, 'x'));
  EXPECT_TRUE(decoded->has_data_count);
  ASSERT_EQ(decoded->customs.size(), 2u);
  EXPECT_EQ(decoded->customs[0].name, "first");
  EXPECT_EQ(decoded->customs[0].after, Section::none);
  EXPECT_EQ(decoded->customs[1].bytes, bytes);
}

}  // namespace
}  // namespace lathe::wasm
