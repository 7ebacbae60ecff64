// The named choices of a model (activation, loss, optimizer, initializer) with their parameters:
// what a user writes, what the rows of tables.def allow, and the checked result.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lathe/base/result.h"

namespace lathe::nn {

// The value of a parameter: a number (true is 1), or a word.
struct Setting {
  double number = 0;
  std::string word = {};

  Setting(double value) : number(value) {}
  Setting(const char* text) : word(text) {}
  Setting(std::string text) : word(std::move(text)) {}
};

class CustomLoss;

// What a user writes: "relu", or {"leakyRelu", {{"alpha", 0.1}}}. Parameters left out have the
// row's default.
struct Choice {
  std::string name;
  std::vector<std::pair<std::string, Setting>> parameters;
  // Of a loss or metric, instead of a row.
  std::shared_ptr<const CustomLoss> custom;

  Choice();
  Choice(const char* text);
  Choice(std::string text, std::vector<std::pair<std::string, Setting>> values = {});
  // Out of line: every struct of layer options has several.
  Choice(const Choice&);
  Choice(Choice&&) noexcept;
  Choice& operator=(const Choice&);
  Choice& operator=(Choice&&) noexcept;
  ~Choice();
  bool empty() const { return name.empty() && custom == nullptr; }
};

enum class Range : uint8_t {
  Any,
  NonNegative,
  Positive,
  Fraction,  // from 0 to below 1
  Count,     // 1, 2, …
  Axis,      // an integer; negative ones count from the end
  Seed,      // a number; kNoSeed where there is none
  Flag,
  Word,
};

inline constexpr double kNoSeed = -1e300;  // no float
// Words of varianceScaling by their index.
inline constexpr double kFanIn = 0, kFanOut = 1, kFanAvg = 2;
inline constexpr double kNormal = 0, kUniform = 1;

struct Parameter {
  std::string_view name;
  double standard = 0;  // the default
  Range range = Range::Any;
  std::string_view words = {};  // of a Word: "a|b"
};

std::vector<std::string_view> words_of(const Parameter& parameter);

inline constexpr size_t kMaxParameters = 9;
std::array<float, kMaxParameters> floats(const std::array<double, kMaxParameters>& parameters);

struct Row {
  std::string_view name, short_name;            // the latter may be empty
  std::array<Parameter, kMaxParameters> slots;  // unused ones have no name

  std::span<const Parameter> parameters() const {
    size_t count = 0;
    while (count < slots.size() && !slots[count].name.empty()) ++count;
    return {slots.data(), count};
  }
};

enum class ActivationKind : uint8_t {
#define LATHE_ACTIVATION(name_, ...) name_,
#include "lathe/nn/tables.def"
};
enum class LossKind : uint8_t {
#define LATHE_LOSS(name_, ...) name_,
#include "lathe/nn/tables.def"
};
enum class MetricKind : uint8_t {
#define LATHE_METRIC(name_, ...) name_,
#include "lathe/nn/tables.def"
};
enum class OptimizerKind : uint8_t {
#define LATHE_OPTIMIZER(name_, ...) name_,
#include "lathe/nn/tables.def"
};
enum class OptimizerOption : uint8_t {
#define LATHE_OPTIMIZER_OPTION(name_, ...) name_,
#include "lathe/nn/tables.def"
};
enum class InitializerKind : uint8_t {
#define LATHE_INITIALIZER(name_, ...) name_,
#include "lathe/nn/tables.def"
};
enum class RegularizerKind : uint8_t {
#define LATHE_REGULARIZER(name_, ...) name_,
#include "lathe/nn/tables.def"
};
enum class ConstraintKind : uint8_t {
#define LATHE_CONSTRAINT(name_, ...) name_,
#include "lathe/nn/tables.def"
};

// The rows in the order of the enums.
std::span<const Row> activations();
std::span<const Row> losses();
std::span<const Row> metrics();
std::span<const Row> optimizers();  // with the options that all of them accept
std::span<const Row> initializers();
std::span<const Row> regularizers();
std::span<const Row> constraints();
std::span<const std::string_view> layer_classes();

// A row and the values of its parameters in the row's order.
template <class Kind>
struct Chosen {
  Kind kind{};
  std::array<double, kMaxParameters> parameters{};
};

// Whether two names are the same but for case and underscores: hardSigmoid, hard_sigmoid.
bool same_name(std::string_view a, std::string_view b);

// The row a choice means. Errors name an unknown row or parameter with the registered ones, and a
// value outside its range.
Result<Chosen<ActivationKind>> find_activation(const Choice& choice);
Result<Chosen<LossKind>> find_loss(const Choice& choice);
Result<Chosen<OptimizerKind>> find_optimizer(const Choice& choice);
Result<Chosen<InitializerKind>> find_initializer(const Choice& choice);
Result<Chosen<RegularizerKind>> find_regularizer(const Choice& choice);
Result<Chosen<ConstraintKind>> find_constraint(const Choice& choice);
Result<Chosen<MetricKind>> find_metric(const Choice& choice);

// The value of an option that every optimizer accepts.
double option_of(const Chosen<OptimizerKind>& optimizer, OptimizerOption option);

// `unknown activation "rellu"; did you mean "relu"? known: linear, …`
std::string unknown_name(std::string_view what, std::string_view name,
                         std::span<const std::string_view> names);

}  // namespace lathe::nn
