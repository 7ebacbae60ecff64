// Handles of the C interface: their objects, and that freed ones are invalid.
#include <gtest/gtest.h>

#include <string>

#include "lathe/api/lathe.h"

namespace {

TEST(Handles, AreInvalidOnceFreed) {
  const int32_t first = lathe_graph_create();
  EXPECT_EQ(lathe_graph_free(first), 1);
  const int32_t second = lathe_graph_create();
  EXPECT_NE(first, second);
  const std::string expected = "there is no graph " + std::to_string(first);
  EXPECT_EQ(lathe_graph_free(first), 0);
  EXPECT_EQ(lathe_error(), expected);
  EXPECT_EQ(lathe_graph_entry(first, "run", 3), 0);
  EXPECT_EQ(lathe_error(), expected);
  EXPECT_EQ(lathe_graph_operation(first, nullptr, 0), nullptr);
  EXPECT_EQ(lathe_error(), expected);
  EXPECT_EQ(lathe_graph_compile(first, "{}", 2), 0);
  EXPECT_EQ(lathe_error(), expected);
  EXPECT_EQ(lathe_live_objects(), 1);
  EXPECT_EQ(lathe_graph_entry(second, "run", 3), 1);
  EXPECT_EQ(lathe_graph_free(second), 1);
  EXPECT_EQ(lathe_live_objects(), 0);
}

TEST(Handles, OfOneKindAreNoneOfAnother) {
  const int32_t graph = lathe_graph_create();
  EXPECT_EQ(lathe_model_free(graph), 0);
  EXPECT_EQ(lathe_error(), "there is no model " + std::to_string(graph));
  EXPECT_EQ(lathe_executable_free(graph), 0);
  EXPECT_EQ(lathe_executable_bytes(graph), nullptr);
  EXPECT_EQ(lathe_error(), "there is no executable " + std::to_string(graph));
  for (const int32_t none : {0, -1, INT32_MAX, INT32_MIN}) EXPECT_EQ(lathe_graph_free(none), 0);
  EXPECT_EQ(lathe_graph_free(graph), 1);
}

}  // namespace
