#include "lathe/nn/training/states.h"

#include <algorithm>
#include <cmath>

#include "lathe/base/text.h"
#include "lathe/formats/safetensors.h"

namespace lathe::nn {
namespace {

using formats::NamedArray;

Status fit(const NamedArray& tensor, const Variable& weight) {
  const auto wrong = [&](std::string_view what) {
    return fail(concat("the tensor \"", tensor.name, "\" ", what));
  };
  const graph::Array& array = tensor.array;
  if (array.dtype != graph::DType::F32) {
    return wrong(concat("is ", scalar::text(array.dtype), ", but weights are f32"));
  }
  if (array.shape != weight.shape) {
    return wrong(concat("has shape ", bracketed(array.shape), ", but the model expects ",
                        bracketed(weight.shape)));
  }
  for (int64_t i = 0; i < graph::element_count(array.shape); ++i) {
    if (std::isnan(array[i].f)) return wrong(concat("has NaN at ", i));
  }
  return {};
}

}  // namespace

Status check_state(const Variable& variable, const graph::Array& array) {
  const int64_t count = graph::element_count(variable.shape);
  const bool fits = array.dtype == graph::DType::F32 && array.shape == variable.shape &&
                    array.data.size() == static_cast<size_t>(count) * sizeof(float);
  if (fits) return {};
  return fail(concat("the state \"", variable.name, "\" is f32", bracketed(variable.shape),
                     ", got ", scalar::text(array.dtype), bracketed(array.shape), " of ",
                     array.data.size(), " bytes"));
}

States initial_states(std::span<const Variable> variables, uint64_t seed) {
  States states;
  for (const Variable& variable : variables) {
    states[variable.name] = graph::Array::of(variable.shape, initial_value(variable, seed));
  }
  return states;
}

std::vector<graph::StateContent> contents_of(const States& states) {
  std::vector<graph::StateContent> contents;
  for (const auto& [name, array] : states) contents.push_back({name, array.data});
  return contents;
}

Result<std::vector<std::byte>> write_weights(const Model& model, const States& states) {
  std::vector<NamedArray> tensors;
  for (const Variable& weight : model.weights()) {
    const auto state = states.find(weight.name);
    if (state == states.end()) return fail(concat("the states have no \"", weight.name, '"'));
    LATHE_TRY(check_state(weight, state->second));
    tensors.push_back({weight.name, state->second});
  }
  return formats::write_safetensors(tensors);
}

Status read_weights(const Model& model, std::span<const std::byte> file, States& states) {
  LATHE_ASSIGN_OR_RETURN(std::vector<NamedArray> tensors, formats::read_safetensors(file));
  const std::vector<Variable> weights = model.weights();
  for (const Variable& weight : weights) {
    const auto tensor = std::ranges::find(tensors, weight.name, &NamedArray::name);
    if (tensor == tensors.end()) {
      return fail(concat("the model needs the tensor \"", weight.name, "\", which is not there"));
    }
    LATHE_TRY(formats::check_read(*tensor));
    LATHE_TRY(fit(*tensor, weight));
  }
  for (const NamedArray& tensor : tensors) {
    if (std::ranges::find(weights, tensor.name, &Variable::name) == weights.end()) {
      return fail(concat("the model has no weight \"", tensor.name, '"'));
    }
  }
  for (NamedArray& tensor : tensors) states[tensor.name] = std::move(tensor.array);
  return {};
}

}  // namespace lathe::nn
