#include "lathe/compile/sized.h"

#include <gtest/gtest.h>

#include "lathe/graph/builder.h"

namespace lathe::compile {
namespace {

using graph::Builder;
using graph::DType;
using graph::Tensor;

int builds = 0;

Result<graph::Program> pairs(const Sizes& sizes) {
  ++builds;
  Builder b("run");
  const Tensor x = b.input("x", DType::F32, {sizes["rows"], 3});
  const Tensor w = b.state("w", DType::F32, {sizes["columns"], 2});
  b.output("y", b.matmul(b.reshape(x, {sizes["rows"] / 2, 6}), b.reshape(w, {6, -1})));
  LATHE_ASSIGN_OR_RETURN(graph::Graph graph, std::move(b).finish());
  return graph::Program{{std::move(graph)}};
}

TEST(Sized, CompilesEachSizesOnce) {
  builds = 0;
  SizedProgram program({"rows", "columns"}, pairs);
  for (int round = 0; round < 3; ++round) {
    for (const int64_t rows : {2, 4, 38}) {
      const auto executable = program.bind({{"rows", rows}, {"columns", 3}});
      ASSERT_TRUE(executable) << executable.error().message;
      const Buffer& y = (*executable)->entries[0].outputs[0];
      EXPECT_EQ(y.shape, (graph::Shape{rows / 2, 1}));
    }
  }
  EXPECT_EQ(builds, 3);
  EXPECT_EQ(program.cached(), 3u);
}

TEST(Sized, EvictsLeastRecentlyUsedExecutables) {
  builds = 0;
  SizedProgram program({"rows", "columns"}, pairs, {}, 1);
  const auto first = *program.bind({{"rows", 2}, {"columns", 3}});
  const auto second = *program.bind({{"rows", 4}, {"columns", 3}});
  EXPECT_EQ(program.cached(), 1u);
  EXPECT_EQ(first->entries[0].outputs[0].shape[0], 1);  // lives on
  EXPECT_EQ(*program.bind({{"rows", 4}, {"columns", 3}}), second);
  EXPECT_NE(*program.bind({{"rows", 2}, {"columns", 3}}), first);
  EXPECT_EQ(builds, 3);
}

std::string refusal(Sizes::Map sizes) {
  SizedProgram program({"rows", "columns"}, pairs);
  const auto executable = program.bind(std::move(sizes));
  return executable ? "" : executable.error().message;
}

TEST(Sized, NamesTheSizesThatDoNotFit) {
  EXPECT_EQ(refusal({{"rows", 2}}), "bind: the size columns is missing");
  EXPECT_EQ(refusal({{"rows", 2}, {"columns", 3}, {"depth", 1}}),
            "bind: there is no size depth; declared: rows, columns");
  EXPECT_EQ(refusal({{"rows", -2}, {"columns", 3}}), "bind: rows is -2, no size");
  const std::string message = refusal({{"rows", 3}, {"columns", 3}});
  EXPECT_NE(message.find("(with columns = 3, rows = 3)"), std::string::npos) << message;
}

}  // namespace
}  // namespace lathe::compile
