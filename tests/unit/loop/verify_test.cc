#include "lathe/loop/analysis/verify.h"

#include <gtest/gtest.h>

#include <functional>

#include "lathe/base/text.h"
#include "lathe/loop/text/parse.h"

namespace lathe::loop::verify_test {
namespace {

constexpr std::string_view kBuffers =
    "buffer x : f32[12] input\n"
    "buffer y : f32[12] output\n"
    "buffer n : i32[12] output\n"
    "buffer c : f32[2] constant {1.0, 2.0}\n";

Module module_of(std::string_view kernel) {
  auto module = parse(concat(kBuffers, "entry e {\nkernel k {\n", kernel, "\n}\n}\n"));
  EXPECT_TRUE(module) << module.error().message;
  return module ? *std::move(module) : Module();
}

std::string verdict(const Module& module) {
  const Status status = verify(module);
  return status ? "" : status.error().message;
}

// The error of verify for a kernel, without its location.
std::string verdict(std::string_view kernel) {
  const std::string text = verdict(module_of(kernel));
  constexpr std::string_view kLocation = "entry e, kernel k: ";
  return text.starts_with(kLocation) ? text.substr(kLocation.size()) : text;
}

TEST(Verify, HalvesAreForTargetsThatHaveThem) {
  const auto verdict = [](std::string_view value, bool has_f16) {
    const auto module = parse(concat(
        "buffer x : f16[12] input\nbuffer y : f16[12] output\nentry e {\nkernel k {\ny[0] = ",
        value, "\n}\n}\n"));
    EXPECT_TRUE(module) << module.error().message;
    const Status status = verify(*module, has_f16);
    return status ? std::string() : status.error().message;
  };
  for (const char* value : {"x[0]", "add(x[0], x[1])", "select(lt(x[0], x[1]), x[0], x[1])",
                            "cast<f16>(exp(cast<f32>(x[0])))"}) {
    EXPECT_EQ(verdict(value, true), "") << value;
    EXPECT_TRUE(verdict(value, false).contains("has the wrong dtype f16")) << value;
  }
  EXPECT_TRUE(verdict("exp(x[0])", true).contains("has the wrong dtype f16"));
}

TEST(Verify, AcceptsAddressesInside) {
  EXPECT_EQ(verdict("for i in 4 { for j in 3 { y[3*i + j] = x[-3*i - j + 11] } }"), "");
  EXPECT_EQ(verdict("for i in 0 { y[i + 90] = x[0] }"), "");
  EXPECT_EQ(verdict("for i in 20 { if 0 <= i - 4 < 12 { y[i - 4] = x[i - 4] } }"), "");
  EXPECT_EQ(verdict("for i in 9 { y[i] = x[-2*i + 11 if 0 <= -2*i + 11 < 12] }"), "");
  EXPECT_EQ(verdict("for i in 3 { for k in 3 { for j in 6 { "
                    "y[0] = x[4*i + 4*k + j - 5 if 0 <= i + k - 1 < 3, 0 <= j - 1 < 4] } } }"),
            "");
  // Several multiples of a guard may be subtracted from the address: here i + k once from 3*i + k,
  // not 3 times.
  EXPECT_EQ(verdict("for i in 4 { for k in 7 { y[0] = x[3*i + k - 1 if 0 <= i + k - 1 < 3] } }"),
            "");
  // Two guards are subtracted together: this is 4*(i + k - 1) + (i + 2*k - 1).
  EXPECT_EQ(verdict("for i in 4 { for k in 4 { "
                    "y[0] = x[5*i + 6*k - 5 if 0 <= i + k - 1 < 3, 0 <= i + 2*k - 1 < 4] } }"),
            "");
  EXPECT_EQ(verdict("for i in 4 { for k in 2 { y[0] = x[6*i + 3*k if 0 <= 4*i + 2*k < 8] } }"), "");
  EXPECT_EQ(verdict("for i in 3 { for k in 2 { y[0] = x[5*i + 3*k if 0 <= 2*i + k < 5] } }"), "");
  // Two of one form, the narrower one first.
  EXPECT_EQ(verdict("for i in 9 { for k in 9 { y[0] = x[i + k if 0 <= i + k < 12, 0 <= i + k < 14] "
                    "} }"),
            "");
}

TEST(Verify, RejectsAddressesOutside) {
  EXPECT_EQ(verdict("for i in 13 { y[i] = 0.0 }"), "an access to y[0..12] outside f32[12]");
  EXPECT_EQ(verdict("for i in 4 { y[i] = x[i - 1] }"), "an access to x[-1..2] outside f32[12]");
  EXPECT_EQ(verdict("for i in 20 { if 0 <= i < 13 { y[i] = 0.0 } }"),
            "an access to y[0..12] outside f32[12]");
  EXPECT_EQ(verdict("for i in 4 { for j in 9 { y[0] = x[4*i + j if 0 <= i - j < 3] } }"),
            "an access to x[0..15] outside f32[12]");
  EXPECT_EQ(verdict("for i in 281474976710656 { y[200000000000000*i] = 0.0 }"),
            "an address of y overflows");
}

// The error of `verify` for loops that update y inplace, with this kernel header.
std::string inplace_verdict(std::string_view head, std::string_view loops) {
  const auto module =
      parse(concat(kBuffers, "entry e {\nkernel k ", head, " {\n", loops, "\n}\n}\n"));
  EXPECT_TRUE(module) << module.error().message;
  return module ? verdict(*module) : "";
}

TEST(Verify, RejectsUndeclaredReadAfterWrite) {
  const std::string refusal =
      "entry e, kernel k: reads elements of y that it may have stored before, without listing it "
      "in "
      "`rereads`";
  const auto update = [](const char* at) {
    return concat("y[", at, "] = add(y[", at, "], x[0]) ");
  };
  const std::string once =
      concat("for i in 2 { for j in 4 { ", update("6*i + j"), "} ", update("6*i + 4"), "}");
  EXPECT_EQ(inplace_verdict("", once), "");
  // The last of two vectors begins in the one before.
  const std::string overlapping = concat("for i in 2 { for j in 4 { ", update("6*i + j"),
                                         "} for k in 4 { ", update("6*i + k + 1"), "} }");
  EXPECT_EQ(inplace_verdict("", overlapping), refusal);
  EXPECT_EQ(inplace_verdict("rereads y", overlapping), "");
  // Guards exclude the store and the load from the same iteration.
  EXPECT_EQ(inplace_verdict("", concat("for i in 2 { if 0 <= i < 1 { ", update("6*i"),
                                       "} if 0 <= i - 1 < 1 { ", update("6*i"), "} }")),
            "");
  const std::string repeated = concat("for i in 3 { for j in 4 { ", update("j"), "} }");
  EXPECT_EQ(inplace_verdict("", repeated), refusal);
  EXPECT_EQ(inplace_verdict(
                "", concat("for i in 3 { if 0 <= i - 2 < 1 { for j in 4 { ", update("j"), "} } }")),
            "");
  EXPECT_EQ(inplace_verdict("", "y[0] = x[0] y[1] = y[0]"), refusal);
  EXPECT_EQ(inplace_verdict("", "y[1] = y[0] y[0] = x[0]"), "");
}

TEST(Verify, RejectsWrongDtypes) {
  EXPECT_EQ(verdict("n[0] = 1.0"), "a f32 is stored to i32 n");
  Module module = module_of("y[0] = add(x[0], x[1])");
  module.entries[0].kernels[0].exprs[2].dtype = DType::I32;
  EXPECT_EQ(verdict(module), "entry e, kernel k: expression 2 has the wrong dtype i32");
  module = module_of("y[0] = x[0]");
  module.buffers[0].dtype = DType::Bool;
  EXPECT_EQ(verdict(module), "entry e, kernel k: expression 0 has the wrong dtype f32");
}

TEST(Verify, RejectsStoresToReadOnlyBuffers) {
  EXPECT_EQ(verdict("x[0] = 1.0"), "a store to x, which is read-only");
  EXPECT_EQ(verdict("c[0] = 1.0"), "a store to c, which is read-only");
}

TEST(Verify, RejectsBrokenLoops) {
  for (const int width : {0, 1, 3, 6, 32}) {
    EXPECT_EQ(verdict(concat("for v in ", width, " vector { y[v] = 0.0 }")),
              concat("vector loop v has extent ", width));
  }
  EXPECT_EQ(verdict("for v in 4 vector { for i in 2 { y[v] = 0.0 } }"),
            "a vector loop contains loop i, which is not unrolled");
  EXPECT_EQ(verdict("for v in 4 vector { if 0 <= v < 3 { y[v] = 0.0 } }"),
            "a vector loop contains an if");
  EXPECT_EQ(verdict("for u in 2 unroll outlined { y[u] = 0.0 }"),
            "loop u is outlined but not serial");
  EXPECT_EQ(verdict("for i in 2 { for i in 2 { y[i] = 0.0 } }"),
            "loop i is nested in a loop of that name");
  EXPECT_EQ(verdict("for i in 2 { y[i] = 0.0 }\nfor i in 3 { y[i] = 0.0 }"), "");
}

TEST(Verify, RejectsOverlappingLanes) {
  constexpr auto kMeet = "a lane of vector loop v reads or writes what another writes";
  EXPECT_EQ(verdict("for v in 4 vector { y[0] = 0.0 }"), "all lanes store to one element of y");
  EXPECT_EQ(verdict("for v in 4 vector { y[v] = y[v + 1] }"), kMeet);
  EXPECT_EQ(verdict("for v in 4 vector { y[v] = y[0] }"), kMeet);
  EXPECT_EQ(verdict("for v in 4 vector { y[v] = 0.0 y[v + 3] = 1.0 }"), kMeet);
  EXPECT_EQ(verdict("for v in 4 vector { y[v] = y[v] y[v + 4] = y[v + 8] }"), "");
  EXPECT_EQ(verdict("for v in 4 vector { for u in 3 unroll { y[4*u + v] = y[4*u + v] } }"), "");
  EXPECT_EQ(verdict("for v in 4 vector { for u in 3 unroll { y[u + v] = 0.0 } }"), kMeet);
  EXPECT_EQ(verdict("for v in 4 vector { for u in 3 unroll { y[3*v + u] = 0.0 } }"), "");
}

TEST(Verify, RejectsRegistersThatDependOnSerialLoops) {
  EXPECT_EQ(verdict("register r : f32[4]\nfor i in 4 { r[i] = 0.0 }"),
            "the address of register r depends on serial loop i");
  EXPECT_EQ(verdict("register r : f32[4]\nfor i in 4 { y[i] = r[i] }"),
            "the address of register r depends on serial loop i");
  EXPECT_EQ(verdict("register r : f32[4]\nfor u in 4 unroll { r[u] = 0.0 }"), "");
}

TEST(Verify, RejectsRegistersThatCrossOutlinedLoops) {
  EXPECT_EQ(verdict("register r : f32[1] for i in 3 outlined { r[0] = x[i] y[i] = r[0] }"), "");
  EXPECT_EQ(verdict("register r : f32[1] r[0] = 1.0 for i in 3 outlined { y[i] = r[0] }"),
            "register r crosses the body of an outlined loop or a task");
  EXPECT_EQ(verdict("register r : f32[1] for i in 3 outlined { r[0] = x[i] } y[0] = r[0]"),
            "register r crosses the body of an outlined loop or a task");
  EXPECT_EQ(verdict("register r : f32[1] for i in 3 outlined { r[0] = x[i] }"
                    " for j in 3 outlined { r[0] = x[j] }"),
            "register r crosses the body of an outlined loop or a task");
  EXPECT_EQ(verdict("register r : f32[1] for i in 3 outlined { y[i] = r[0] r[0] = x[i] }"),
            "an outlined loop or a task reads register r before it writes it");
  EXPECT_EQ(verdict("register r : f32[1] for i in 3 outlined { r[0] = add(r[0], x[i]) }"),
            "an outlined loop or a task reads register r before it writes it");
}

TEST(Verify, RejectsLanesOfRegistersThatAreNotContiguous) {
  EXPECT_EQ(verdict("register r : f32[8] for v in 4 vector { r[v + 4] = x[v] }"), "");
  for (const char* address : {"2*v", "v + 1", "-1*v + 3"}) {
    EXPECT_EQ(verdict(concat("register r : f32[8] for v in 4 vector { r[", address, "] = x[v] }")),
              "the lanes of register r are not 4 elements side by side");
  }
  EXPECT_EQ(
      verdict("register r : f32[8] for u in 2 unroll { for v in 4 vector { r[4*u + v] = 0.0 } "
              "} for v in 4 vector { y[v] = r[v + 3] }"),
      "");
  EXPECT_EQ(verdict("register r : f32[8] for v in 8 vector { r[v] = x[v] } "
                    "for u in 2 unroll { for w in 8 vector { y[w] = r[8*w + u] } }"),
            "an access to r[0..57] outside f32[8]");
  EXPECT_EQ(verdict("register r : f32[4] for v in 2 vector { r[v + 2] = x[v] } "
                    "for w in 2 vector { y[w] = r[2*w + 1] }"),
            "");
  EXPECT_EQ(verdict("register r : f32[8] for v in 4 vector { r[v] = x[v] } "
                    "for w in 8 vector { y[w] = r[w] }"),
            "register r has vectors of 4 and of 8 lanes");
  EXPECT_EQ(verdict("register r : f32[8] for v in 8 vector { r[v] = x[v] } y[0] = r[7]"), "");
  EXPECT_EQ(verdict("register r : f32[8] for v in 8 vector { r[v] = x[v] } "
                    "for u in 2 unroll { for w in 8 vector { y[w] = r[u] } }"),
            "");
  EXPECT_EQ(verdict("register r : f32[8] for v in 4 vector { y[v] = r[-1*v + 3] }"),
            "the lanes of register r are not 4 elements side by side");
}

TEST(Verify, RejectsBrokenConditions) {
  EXPECT_EQ(verdict("for i in 3 { when lt(x[i], x[i + 1]) { y[i] = 0.0 } }"), "");
  EXPECT_EQ(verdict("when x[0] { y[0] = 0.0 }"), "a when tests f32");
  EXPECT_EQ(verdict("when lt(x[0], x[12]) { y[0] = 0.0 }"),
            "an access to x[12..12] outside f32[12]");
  EXPECT_EQ(verdict("for v in 4 vector { when true { y[v] = 0.0 } }"),
            "a vector loop contains a when");
  EXPECT_EQ(verdict("for g in 2 group { when true { barrier } }"),
            "a barrier that not every thread may reach");
}

TEST(Verify, RejectsBrokenTables) {
  const auto broken = [](const std::function<void(Module&, Kernel&)>& damage) {
    Module module = module_of("for i in 3 { y[i] = neg(x[i]) }");
    damage(module, module.entries[0].kernels[0]);
    return verdict(module);
  };
  const std::string location = "entry e, kernel k: ";
  EXPECT_EQ(broken([](Module&, Kernel& k) { k.exprs[1].operands[0] = 1; }),
            location + "expression 1 comes before its operand 1");
  EXPECT_EQ(broken([](Module&, Kernel& k) { k.exprs.push_back(k.exprs[0]); }),
            location + "expression 2 occurs twice in the table");
  EXPECT_EQ(broken([](Module&, Kernel& k) { k.exprs[0].buffer.id = 9; }),
            location + "buffer 9 does not exist");
  EXPECT_EQ(broken([](Module&, Kernel& k) { k.body[0].body[0].value = -1; }),
            location + "expression -1 does not exist");
  EXPECT_EQ(broken([](Module&, Kernel& k) { k.body[0].var = 4; }),
            location + "loop variable 4 does not exist");
  EXPECT_EQ(broken([](Module&, Kernel& k) { k.body.push_back(k.body[0].body[0]); }),
            location + "variable 0 is used outside its loop");
  EXPECT_EQ(broken([](Module&, Kernel& k) { k.exprs[0].address.terms[0].coefficient = 0; }),
            location + "terms out of order or with factor 0");
  EXPECT_EQ(broken([](Module&, Kernel& k) { k.vars[0].extent = -1; }),
            location + "loop i has extent -1");
  EXPECT_EQ(broken([](Module& m, Kernel&) { m.buffers[1].name = "x"; }), "two buffers named x");
  EXPECT_EQ(broken([](Module& m, Kernel&) { m.buffers[3].data = std::vector<std::byte>(7); }),
            "buffer c has 7 bytes of data, not 8");
  EXPECT_EQ(broken([](Module& m, Kernel&) {
              m.entries.push_back({"e", {}, {}, {}});
            }),
            "two entries named e");
  EXPECT_EQ(broken([](Module& m, Kernel& k) { m.entries[0].kernels.push_back(Kernel(k)); }),
            "two kernels named k");
  EXPECT_EQ(broken([](Module& m, Kernel&) {
              m.entries[0].inputs.push_back({"in", {3, 5}, 0});
            }),
            "port in [3,5] does not fit buffer x");
  EXPECT_EQ(broken([](Module& m, Kernel&) {
              m.states.push_back({"w", {3}, 7});
            }),
            "port w has no buffer");
  EXPECT_EQ(broken([](Module&, Kernel& k) {
              k.registers.assign(2, {"r", DType::F32, 1, BufferRole::Temporary, {}});
            }),
            location + "two registers named r");
}

}  // namespace
}  // namespace lathe::loop::verify_test
