// The named choices of a model (activation, loss, optimiser, initialiser) with their parameters:
// what a user writes, what the rows of tables.def allow, and the checked result.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace lathe::nn {

// What a user writes: "relu", or {"leakyRelu", {{"alpha", 0.1}}}. Parameters left out have the
// row's default.
struct Choice {
  std::string name;
  std::vector<std::pair<std::string, double>> parameters;

  Choice() = default;
  Choice(const char* text) : name(text) {}
  Choice(std::string text, std::vector<std::pair<std::string, double>> values = {})
      : name(std::move(text)), parameters(std::move(values)) {}
  bool empty() const { return name.empty(); }
};

enum class Range : uint8_t { Any, NonNegative, Positive, Fraction, Flag };

struct Parameter {
  std::string_view name;
  double standard = 0;  // the default
  Range range = Range::Any;
};

inline constexpr size_t kMaxParameters = 4;

struct Row {
  std::string_view name;
  std::array<Parameter, kMaxParameters> slots;  // unused ones have no name

  std::span<const Parameter> parameters() const {
    size_t count = 0;
    while (count < slots.size() && !slots[count].name.empty()) ++count;
    return {slots.data(), count};
  }
};

enum class ActivationKind : uint8_t {
#define ACTIVATION(name_, ...) name_,
#include "nn/tables.def"
};
enum class LossKind : uint8_t {
#define LOSS(name_, ...) name_,
#include "nn/tables.def"
};
enum class OptimizerKind : uint8_t {
#define OPTIMIZER(name_, ...) name_,
#include "nn/tables.def"
};
enum class InitializerKind : uint8_t {
#define INITIALIZER(name_, ...) name_,
#include "nn/tables.def"
};

// The rows in the order of the enums.
std::span<const Row> activations();
std::span<const Row> losses();
std::span<const Row> optimizers();
std::span<const Row> initializers();
std::span<const std::string_view> layer_classes();

// A row and the values of its parameters in the row's order.
template <class Kind>
struct Chosen {
  Kind kind{};
  std::array<double, kMaxParameters> parameters{};
};

// The row a choice means. Errors name an unknown row or parameter with the known ones, and a value
// outside its range.
Result<Chosen<ActivationKind>> find_activation(const Choice& choice);
Result<Chosen<LossKind>> find_loss(const Choice& choice);
Result<Chosen<OptimizerKind>> find_optimizer(const Choice& choice);
Result<Chosen<InitializerKind>> find_initializer(const Choice& choice);

// `unknown activation "rellu"; did you mean "relu"? known: linear, …`
std::string unknown_name(std::string_view what, std::string_view name,
                         std::span<const std::string_view> known);

}  // namespace lathe::nn
