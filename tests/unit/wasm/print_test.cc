// The text of a module, and that WABT reads it back to the same bytes.
#include "lathe/wasm/print.h"

#include <gtest/gtest.h>

#include "lathe/base/text.h"
#include "lathe/wasm/assembler.h"
#include "lathe/wasm/encode.h"
#include "lathe/wasm/print_code.h"
#include "temporary_file.h"

namespace lathe::wasm {
namespace {

using namespace handles;

Module sample_module() {
  ModuleBuilder builder;
  const uint32_t log = builder.import_function("env", "log", {{ValType::f32}, {}});
  const uint32_t memory = builder.add_memory({.min = 1, .max = 4});
  const uint32_t table = builder.add_table({ValType::funcref, {.min = 2}});
  const uint32_t count = builder.add_global(ValType::i32, true, 3);
  FunctionBuilder& f = builder.add_function("scale by", {ValType::i32, ValType::i32}, {});
  f.add_local(ValType::v128);
  f(block)(loop);
  f(local::get, 0)(i32::eqz)(br_if, 1);
  f(local::get, 1)(v128::load, {.offset = 16, .align = 4})(local::tee, 2);
  f(f32x4::extract_lane, 3)(call, log);
  f(br, 0)(end)(end);
  f(global::get, count)(if_)(nop)(else_)(unreachable)(end);
  builder.export_function("scale", f.index());
  builder.export_memory("memory", memory);
  builder.add_elements(table, 1, {f.index()});
  const std::vector<uint8_t> bytes = {'a', '"', 0, 0xff};
  builder.add_data(memory, 8, bytes);
  Result<Module> module = builder.finish();
  EXPECT_TRUE(module) << module.error().message;
  return std::move(*module);
}

TEST(Print, WritesAModule) {
  EXPECT_EQ(print(sample_module()), R"((module
  (type (;0;) (func (param f32)))
  (type (;1;) (func (param i32 i32)))
  (import "env" "log" (func (;0;) (type 0)))
  (func $scale_by (;1;) (type 1) (param i32 i32)
    (local v128)
    block  ;; label = @1
      loop  ;; label = @2
        local.get 0
        i32.eqz
        br_if 1 (;@1;)
        local.get 1
        v128.load offset=16 align=4
        local.tee 2
        f32x4.extract_lane 3
        call 0
        br 0 (;@2;)
      end
    end
    global.get 0
    if  ;; label = @1
      nop
    else
      unreachable
    end)
  (table (;0;) 2 funcref)
  (memory (;0;) 1 4)
  (global (;0;) (mut i32) i32.const 3)
  (export "scale" (func $scale_by))
  (export "memory" (memory 0))
  (elem (;0;) (offset i32.const 1) func $scale_by)
  (data (;0;) (offset i32.const 8) "a\22\00\ff"))
)");
}

TEST(Print, IsReadBackByWabt) {
  ASSERT_TRUE(has_command("wat2wasm")) << "wat2wasm is not installed: run ./dev setup";
  Module module = sample_module();
  module.names.functions[1] = "scale";
  module.names.locals[1] = {{0, "count"}, {2, "values"}};
  module.names.globals[0] = "total";
  const std::string text = print(module);
  const std::string source =
      write_temporary("text.wat", {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  const std::string target = temporary_path("text.wasm");
  EXPECT_EQ(output_of("wat2wasm" + kWabtFlags + source + " -o " + target), "") << text;
  std::ifstream file(target, std::ios::binary);
  const std::vector<uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
  module.names = {};
  EXPECT_EQ(bytes, encode(module));
}

TEST(Print, UsesLocalNames) {
  Module module = sample_module();
  module.names.locals[1] = {{0, "count"}, {2, "values"}};
  const std::string text = print(module);
  EXPECT_NE(text.find("(param $count i32) (param i32)\n    (local $values v128)"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("local.tee $values"), std::string::npos) << text;
}

TEST(Print, MakesIdentifiersUnique) {
  const auto identifiers = make_identifiers({{0, "a b"}, {1, "a_b"}, {2, ""}, {3, "ä"}});
  EXPECT_EQ(identifiers.at(0), "$a_b");
  EXPECT_EQ(identifiers.at(1), "$a_b.1");
  EXPECT_FALSE(identifiers.contains(2));
  EXPECT_EQ(identifiers.at(3), "$__");
}

TEST(Print, WritesFloatsExactly) {
  EXPECT_EQ(f32_text(0x3f800000), "0x1p+0");
  EXPECT_EQ(f32_text(0xc0490fdb), "-0x1.921fb6p+1");
  EXPECT_EQ(f32_text(0x80000000), "-0x0p+0");
  EXPECT_EQ(f32_text(0x00000001), "0x0.000002p-126");
  EXPECT_EQ(f32_text(0x7f800000), "inf");
  EXPECT_EQ(f32_text(0xffc00000), "-nan");
  EXPECT_EQ(f32_text(0x7fa00000), "nan:0x200000");
  EXPECT_EQ(f64_text(0x3fb999999999999a), "0x1.999999999999ap-4");
  EXPECT_EQ(f64_text(0x7fefffffffffffff), "0x1.fffffffffffffp+1023");
  EXPECT_EQ(f64_text(1), "0x0.0000000000001p-1022");
}

TEST(Print, StaysSmallForDeepNesting) {
  Module module;
  module.types = {{}};
  module.functions.resize(1);
  std::vector<Instruction>& list = module.functions[0].code.instructions;
  list.assign(10000, {.op = Opcode::block, .value = static_cast<uint64_t>(kEmptyBlock)});
  list.insert(list.end(), 10001, {.op = Opcode::end});
  EXPECT_LT(print(module).size(), 4000000u);
}

std::string print_error(const Module& module) {
  const auto text = print(encode(module));
  return text ? concat(text->size(), " bytes of text") : text.error().message;
}

// A hundred thousand functions of fifty thousand locals would be 20 GB of text.
TEST(Print, RejectsOutputOutOfProportion) {
  Module module;
  module.types = {{}};
  Function function;
  function.code.instructions = {{.op = Opcode::end}};
  function.locals = {{kMaxLocals, ValType::i32}};
  module.functions.assign(100000, function);
  EXPECT_EQ(print_error(module),
            "the text of the module of 800028 bytes is longer than 204807168 bytes: it declares "
            "locals, or repeats names and types, out of proportion");
  // A long name that is called repeatedly, and one type.
  function.locals.clear();
  function.code.instructions.insert(function.code.instructions.begin(), 100000,
                                    {.op = Opcode::call});
  module.functions.assign(1, function);
  module.names.functions[0] = std::string(100000, 'f');
  EXPECT_NE(print_error(module).find("out of proportion"), std::string::npos);
  module.names.functions[0] = "f";
  EXPECT_EQ(print_error(module), "1200058 bytes of text");
  module.types[0].results.assign(1000, ValType::i32);
  for (Instruction& each : module.functions[0].code.instructions) {
    if (each.op == Opcode::call) each = {.op = Opcode::block};
  }
  module.functions[0].code.instructions.insert(module.functions[0].code.instructions.end(), 100000,
                                               {.op = Opcode::end});
  EXPECT_NE(print_error(module).find("out of proportion"), std::string::npos);
}

}  // namespace
}  // namespace lathe::wasm
