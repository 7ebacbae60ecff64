#include "functions.h"

#include <algorithm>

#include "graph_generator.h"
#include "lathe/base/check.h"
#include "lathe/base/text.h"
#include "lathe/ops/operations.h"

namespace lathe::random_tests {

namespace {

constexpr auto kGroups = {elementwise_recipes, movement_recipes, window_recipes, fold_recipes,
                          loop_recipes};

// Each group has its share, whatever its length.
const Recipe& random_recipe(Rng& rng) {
  static constexpr std::array<int, 5> kShares = {17, 28, 16, 30, 9};
  int64_t at = rng.below(100);
  size_t group = 0;
  while (at >= kShares[group]) at -= kShares[group++];
  const std::span<const Recipe> recipes = kGroups.begin()[group]();
  int64_t weights = 0;
  for (const Recipe& recipe : recipes) weights += recipe.weight;
  int64_t left = rng.below(weights);
  const Recipe* recipe = recipes.data();
  while (left >= recipe->weight) left -= (recipe++)->weight;
  return *recipe;
}

}  // namespace

int steps_of(uint64_t seed) {
  Rng rng(seed ^ 0x5eed);
  return static_cast<int>(rng.chance(60) ? rng.from(1, 4) : rng.from(5, 12));
}

Function random_function(uint64_t seed, int steps) {
  graph::Builder builder("run");
  GraphGenerator generator(builder, seed);
  Function function;
  const int all = steps_of(seed);
  for (int i = 0; i < (steps < 0 ? all : std::min(steps, all)); ++i) {
    const Recipe& recipe = random_recipe(generator.rng);
    function.recipes.emplace_back(recipe.name);
    recipe.generate(generator);
    if (!builder.ok()) builder.pop_error();
  }
  // The last result, and some of the others.
  const std::vector<Tensor>& tensors = generator.all();
  Rng rng(seed ^ 0x0f);
  int outputs = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const graph::Node& node = builder.graph()[tensors[i].value];
    const bool last = i + 1 == tensors.size();
    if (node.kind == graph::Kind::Input && !last) continue;
    if (last || rng.chance(30)) builder.output(concat("y", outputs++), tensors[i]);
  }
  function.graph = *std::move(builder).finish();
  return function;
}

std::vector<std::string> operations_without_recipe() {
  std::vector<std::string> missing;
  for (const ops::Operation& operation : ops::operations()) {
    if (operation.apply == nullptr) continue;  // "elementwise" draws them all
    const bool is_covered = std::ranges::any_of(kGroups, [&](auto group) {
      return std::ranges::any_of(
          group(), [&](const Recipe& recipe) { return recipe.name == operation.name; });
    });
    if (!is_covered) missing.push_back(operation.name);
  }
  return missing;
}

}  // namespace lathe::random_tests
