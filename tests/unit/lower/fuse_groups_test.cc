#include "lathe/lower/fuse_groups.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "lathe/graph/parse.h"
#include "lathe/nn/layers/activation.h"
#include "lathe/nn/layers/dense.h"
#include "lathe/nn/training/training.h"
#include "lathe/opt/passes.h"
#include "random_graph.h"

namespace lathe::lower {
namespace {

using graph::Graph;
using graph::Kind;

Graph parsed(const char* text) {
  auto graph = graph::parse(text);
  EXPECT_TRUE(graph) << graph.error().message;
  return graph ? *std::move(graph) : Graph();
}

std::vector<std::vector<int>> members(const Fusion& fusion) {
  std::vector<std::vector<int>> result;
  for (const Group& group : fusion.groups) {
    auto& ids = result.emplace_back();
    for (graph::Value member : group.members) ids.push_back(member.id);
  }
  return result;
}

using Groups = std::vector<std::vector<int>>;

TEST(FuseGroups, DenseWithBiasAndReluIsOneKernel) {
  const Graph graph = parsed(
      "graph \"t\" {\n"
      "  %0 = input \"x\" : f32[2,3]\n"
      "  %1 = state \"w\" : f32[3,4]\n"
      "  %2 = state \"b\" : f32[4]\n"
      "  %3 = constant 0 : f32[2,4]\n"
      "  %4 = contract %0 %1 over [2,4,3] out [d0,d1] lhs [d0,d2] rhs [d2,d1] : f32[2,4]\n"
      "  %5 = reindex %2 map [d1] : f32[2,4]\n"
      "  %6 = map add %4 %5 : f32[2,4]\n"
      "  %7 = map max %6 %3 : f32[2,4]\n"
      "  output \"y\" %7\n"
      "}\n");
  const Fusion fusion = fuse_groups(graph);
  EXPECT_EQ(members(fusion), (Groups{{4, 6, 7}}));
  EXPECT_FALSE(fusion.stored[4]);
  EXPECT_FALSE(fusion.stored[6]);
  EXPECT_TRUE(fusion.stored[7]);
}

// Their arithmetic needs the registers of the tile, also where it is not the last operation.
TEST(FuseGroups, ProductsAreNotFusedWithTranscendentals) {
  const Graph graph = parsed(
      "graph \"t\" {\n"
      "  %0 = input \"x\" : f32[8,3]\n"
      "  %1 = state \"w\" : f32[3,4]\n"
      "  %2 = input \"z\" : f32[8,4]\n"
      "  %3 = contract %0 %1 over [8,4,3] out [d0,d1] lhs [d0,d2] rhs [d2,d1] : f32[8,4]\n"
      "  %4 = map add %3 %2 : f32[8,4]\n"
      "  %5 = map sigmoid %4 : f32[8,4]\n"
      "  %6 = map mul %4 %5 : f32[8,4]\n"
      "  %7 = contract %0 %1 over [8,4,3] out [d0,d1] lhs [d0,d2] rhs [d2,d1] : f32[8,4]\n"
      "  %8 = map tanh %2 : f32[8,4]\n"
      "  %9 = map mul %7 %8 : f32[8,4]\n"
      "  output \"own\" %6\n"
      "  output \"other\" %9\n"
      "}\n");
  EXPECT_EQ(members(fuse_groups(graph)), (Groups{{3, 4}, {6}, {7}, {9}}));
}

TEST(FuseGroups, SoftmaxPassesThreeTimesOverEachRow) {
  const Graph graph = parsed(
      "graph \"t\" {\n"
      "  %0 = input \"x\" : f32[4,3]\n"
      "  %1 = reduce max %0 axes [1] : f32[4]\n"
      "  %2 = reindex %1 map [d0] : f32[4,3]\n"
      "  %3 = map sub %0 %2 : f32[4,3]\n"
      "  %4 = map exp %3 : f32[4,3]\n"
      "  %5 = reduce add %4 axes [1] : f32[4]\n"
      "  %6 = reindex %5 map [d0] : f32[4,3]\n"
      "  %7 = map div %4 %6 : f32[4,3]\n"
      "  output \"y\" %7\n"
      "}\n");
  const Fusion fusion = fuse_groups(graph);
  EXPECT_EQ(members(fusion), (Groups{{1, 3, 4, 5, 7}}));
  EXPECT_TRUE(fusion.groups[0].is_rows);
  EXPECT_TRUE(fusion.stored[4]);   // expensive and read by a later pass
  EXPECT_FALSE(fusion.stored[3]);  // cheap
  EXPECT_FALSE(fusion.stored[5]);
  EXPECT_EQ(fusion.pass[4], 1);
  EXPECT_EQ(fusion.last_pass[4], 2);
  EXPECT_EQ(fusion.pass[7], 2);
}

// %3 reads the wrong row, %5 is of other axes, %7 updates a state: none joins the rows of %1.
TEST(FuseGroups, OnlyTheSameRowsAreOneKernel) {
  const Graph graph = parsed(
      "graph \"t\" {\n"
      "  %0 = input \"x\" : f32[4,4]\n"
      "  %1 = reduce max %0 axes [1] : f32[4]\n"
      "  %2 = reindex %1 map [d1] : f32[4,4]\n"
      "  %3 = map sub %0 %2 : f32[4,4]\n"
      "  %4 = reindex %1 map [d0] : f32[4,4]\n"
      "  %5 = reduce add %4 axes [0] : f32[4]\n"
      "  %6 = state \"s\" : f32[4,4]\n"
      "  %7 = map mul %6 %4 : f32[4,4]\n"
      "  output \"y\" %3\n"
      "  output \"z\" %5\n"
      "  update %6 %7\n"
      "}\n");
  const Fusion fusion = fuse_groups(graph);
  EXPECT_EQ(members(fusion), (Groups{{1}, {3}, {5}, {7}}));
  EXPECT_TRUE(fusion.is_inplace(graph.updates[0]));
}

TEST(FuseGroups, CheapValuesAreRecomputed) {
  const Graph graph = parsed(
      "graph \"t\" {\n"
      "  %0 = input \"x\" : f32[4,3]\n"
      "  %1 = map add %0 %0 : f32[4,3]\n"
      "  %2 = reduce add %1 axes [1] : f32[4]\n"
      "  %3 = reduce max %1 axes [0] : f32[3]\n"
      "  output \"a\" %2\n"
      "  output \"b\" %3\n"
      "}\n");
  EXPECT_EQ(members(fuse_groups(graph)), (Groups{{2}, {3}}));
}

// The update of %0 must wait for its other reader, which comes later in the graph.
TEST(FuseGroups, InplaceUpdatesRunAfterEveryReader) {
  const Graph graph = parsed(
      "graph \"t\" {\n"
      "  %0 = state \"s\" : f32[5]\n"
      "  %1 = input \"x\" : f32[5]\n"
      "  %2 = map mul %0 %1 : f32[5]\n"
      "  %3 = reduce add %0 axes [0] : f32[]\n"
      "  output \"sum\" %3\n"
      "  update %0 %2\n"
      "}\n");
  const Fusion fusion = fuse_groups(graph);
  EXPECT_TRUE(fusion.is_inplace(graph.updates[0]));
  EXPECT_EQ(members(fusion), (Groups{{3}, {2}}));
}

TEST(FuseGroups, NoInplaceUpdateOfAValueThatIsReadLater) {
  // %2 reads other elements of the state; %3 needs the state before and the update's value.
  const Graph graph = parsed(
      "graph \"t\" {\n"
      "  %0 = state \"s\" : f32[5]\n"
      "  %1 = state \"r\" : f32[5]\n"
      "  %2 = reindex %0 map [-d0+4] : f32[5]\n"
      "  %3 = map mul %1 %1 : f32[5]\n"
      "  %4 = reduce add %3 axes [0] : f32[]\n"
      "  %5 = reindex %4 map [] : f32[5]\n"
      "  %6 = map add %1 %5 : f32[5]\n"
      "  %7 = reduce max %6 axes [0] : f32[]\n"
      "  %8 = reindex %1 map [-d0+4] : f32[5]\n"
      "  %9 = reindex %7 map [] : f32[5]\n"
      "  %10 = map mul %8 %9 : f32[5]\n"
      "  output \"y\" %10\n"
      "  update %0 %2\n"
      "  update %1 %6\n"
      "}\n");
  const Fusion fusion = fuse_groups(graph);
  EXPECT_FALSE(fusion.is_inplace(graph.updates[0]));
}

graph::Program trained(int layers, const char* optimizer) {
  nn::Sequential model;
  for (int i = 0; i < layers; ++i) {
    model.add(nn::dense({.units = 16, .input_shape = {16}}));
    model.add(nn::activation({.activation = "relu"}));
  }
  auto program = nn::build_program(
      model, {.loss = "meanSquaredError", .optimizer = optimizer, .batch = {8, 8, 8}});
  EXPECT_TRUE(program) << program.error().message;
  for (Graph& entry : program->entries) {
    for (const opt::Pass& pass : opt::passes()) entry = pass.run(std::move(entry));
  }
  return *std::move(program);
}

TEST(FuseGroups, AdamStepFollowsTheWeightGradient) {
  const graph::Program program = trained(3, "adam");
  const Graph& train = *std::ranges::find(program.entries, "train", &Graph::name);
  const Fusion fusion = fuse_groups(train);
  int weights = 0;
  for (size_t u = 0; u < train.updates.size(); ++u) {
    const graph::Node& state = train[train.updates[u].state];
    if (state.shape != graph::Shape{16, 16}) continue;
    ++weights;
    EXPECT_TRUE(fusion.is_inplace(train.updates[u])) << state.name;
    const int group = fusion.group_of[static_cast<size_t>(train.updates[u].value.id)];
    ASSERT_GE(group, 0);
    const auto anchor = fusion.groups[static_cast<size_t>(group)].anchor();
    EXPECT_EQ(train[anchor].kind, Kind::Contract) << state.name;
  }
  EXPECT_EQ(weights, 9);  // weight and two moments of each layer
}

// Every group comes after those whose values it reads, and has each node once.
TEST(FuseGroups, GroupsAreInOrder) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    graph::RandomGraph random(seed);
    const Graph graph = random.make(30);
    const Fusion fusion = fuse_groups(graph);
    std::vector<int> seen(graph.nodes.size());
    for (size_t g = 0; g < fusion.groups.size(); ++g) {
      for (graph::Value member : fusion.groups[g].members) {
        const auto id = static_cast<size_t>(member.id);
        EXPECT_EQ(++seen[id], 1);
        EXPECT_EQ(fusion.group_of[id], static_cast<int>(g));
        if (!is_per_row(graph, fusion.groups[g], member)) {
          EXPECT_EQ(graph.nodes[id].shape, fusion.groups[g].shape);
        }
        for (graph::Value operand : graph.nodes[id].operands) {
          EXPECT_LE(fusion.group_of[static_cast<size_t>(operand.id)], static_cast<int>(g));
        }
      }
    }
    for (const auto& output : graph.outputs) {
      const auto id = static_cast<size_t>(output.value.id);
      EXPECT_TRUE(is_leaf(graph.nodes[id]) || fusion.stored[id]);
    }
  }
}

}  // namespace
}  // namespace lathe::lower
