// Weights of a model -> tensors of a file whose names are in the style of another framework or
// version: TensorFlow 2.2 and later name the cell of a recurrent layer, Keras 3 puts the model in
// front, sessions renumber layers. Independent of models and numbers.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lathe/base/result.h"
#include "lathe/graph/graph.h"

namespace lathe::models {

// A state of a model, or a tensor of a file.
struct NamedShape {
  std::string name;
  graph::Shape shape;
};

// A weight with its name, and its name without the models it is nested in.
struct NamedWeight {
  std::string_view name, saved;
  const graph::Shape* shape;
};

// Keras ends names with the number of the output: "a/kernel:0" -> "a/kernel".
std::string_view plain_name(std::string_view name);
// "a/b:0" -> a, b.
std::vector<std::string_view> name_parts(std::string_view name);

// The weight that PATH/2 names: the third of those called PATH/…; nothing where it is none.
std::optional<size_t> weight_at(std::span<const NamedShape> weights, std::string_view name);

// The tensor of each weight, or nothing; no tensor has two weights. In this order: the same name;
// PATH/2 for the third weight of PATH; names that have further parts, as far as one assignment
// only is possible. With `strict`, layers that are numbered otherwise are paired in the order of
// their numbers. Errors: two tensors have the name of a weight; with `strict`, several assignments
// are possible.
Result<std::vector<std::optional<size_t>>> match_names(std::span<const NamedWeight> weights,
                                                       std::span<const NamedShape> tensors,
                                                       bool strict);

}  // namespace lathe::models
