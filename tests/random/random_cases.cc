// Writes random functions and models with inputs, expected results and compiled modules for engines
// to run (run.mjs), and compares their gradients with differences. Usage: random_cases FOLDER
// --functions=FIRST..END [--steps=COUNT] [--show] [--shaders]
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "cases.h"
#include "functions.h"
#include "lathe/base/text.h"
#include "lathe/compile/target.h"
#include "lathe/graph/evaluate.h"
#include "lathe/graph/print.h"
#include "models.h"

namespace lathe::random_tests {
namespace {

struct Seeds {
  uint64_t first = 0, end = 0;
};

struct Arguments {
  std::string folder;
  Seeds functions, models;
  std::vector<std::string> without;
  int steps = -1;
  bool shows = false, as_shaders = false;
};

// Time limit of one seed in seconds.
constexpr unsigned kLongest = 10;

// What is worked on, for when it ends the program.
char current[64];

void report_and_exit(int number) {
  const char* why = number == SIGALRM ? ": time limit exceeded\n" : ": crashes\n";
  if (write(2, current, std::strlen(current)) >= 0 && write(2, why, std::strlen(why)) >= 0) {
    _exit(3);
  }
  _exit(4);
}

void work_on(std::string_view name) {
  std::snprintf(current, sizeof(current), "%.*s", static_cast<int>(name.size()), name.data());
  alarm(kLongest);
}

struct Counts {
  int64_t passed = 0, failed = 0;
  SlopeCounts slopes;
};

std::map<std::string, graph::Array> arrays(const Named& named) {
  std::map<std::string, graph::Array> result;
  for (const auto& [name, values] : named) {
    result[name] = {values.dtype, values.shape, bytes_of(values)};
  }
  return result;
}

Status compare(const Named& expected, const std::map<std::string, graph::Array>& actual) {
  for (const auto& [name, values] : expected) {
    for (size_t i = 0; i < values.elements.size(); ++i) {
      const Bounded each = values.elements[i];
      const double number = actual.at(name)[static_cast<int64_t>(i)].as_double();
      if (number == each.value || !each.is_finite()) continue;
      if (std::fabs(number - each.value) <= 2 * each.error + 1e-7 * std::fabs(each.value)) continue;
      return fail(concat("the evaluator returns ", name, '[', i, "] = ", number, ", expected ",
                         each.value, " within ", each.error));
    }
  }
  return {};
}

// The evaluator of the graph in f32 agrees.
Status check_evaluator(const Subject& subject, size_t entry, const Outcome& outcome) {
  std::map<std::string, graph::Array> states = arrays(subject.states);
  LATHE_ASSIGN_OR_RETURN(
      const graph::Outputs outputs,
      graph::evaluate(subject.program.entries[entry], arrays(subject.inputs[entry]), states));
  LATHE_TRY(compare(outcome.outputs, outputs));
  return compare(outcome.states, states);
}

Status write_case(const Subject& subject, uint64_t seed, bool as_shaders, Folder& folder,
                  SlopeCounts& counts) {
  const Precision precision{.winograd = true};
  std::vector<Outcome> outcomes;
  for (size_t i = 0; i < subject.program.entries.size(); ++i) {
    const graph::Graph& entry = subject.program.entries[i];
    outcomes.push_back(expected(entry, subject.inputs[i], subject.states, precision));
    LATHE_TRY(check_evaluator(subject, i, outcomes.back()));
  }
  if (as_shaders) {
    compile::Options options;
    options.verify = true;
    LATHE_ASSIGN_OR_RETURN(const compile::Executable shaders,
                           compile::compile(subject.program, options, compile::webgpu_target()));
    folder.add_shaders(subject, outcomes, shaders);
    return {};
  }
  Rng rng(seed ^ 0x5c4ed);
  LATHE_ASSIGN_OR_RETURN(const std::vector<Variant> all, variants(subject.program, rng));
  folder.add(subject, outcomes, all);
  const std::optional<Slopes> slopes = slopes_of(subject);
  return slopes ? check_slopes(*slopes, subject.states, rng, counts) : Status();
}

void show(const Subject& subject) {
  std::printf("%s: %s\n", subject.name.c_str(), subject.text.c_str());
  for (const graph::Graph& entry : subject.program.entries) {
    std::printf("%s\n", graph::print(entry).c_str());
  }
}

void run_seeds(const char* kind, Seeds seeds, Result<Subject> (*subject_of)(uint64_t, int),
               const Arguments& arguments, Folder& folder, Counts& counts) {
  for (uint64_t seed = seeds.first; seed < seeds.end; ++seed) {
    const std::string name = concat(kind, '_', seed);
    if (std::ranges::find(arguments.without, name) != arguments.without.end()) continue;
    work_on(name);
    const Result<Subject> subject = subject_of(seed, arguments.steps);
    if (subject && arguments.shows) show(*subject);
    const Status status =
        subject ? write_case(*subject, seed, arguments.as_shaders, folder, counts.slopes)
                : Status(fail(subject.error().message));
    ++(status ? counts.passed : counts.failed);
    if (!status) std::printf("%s: %s\n", name.c_str(), status.error().message.c_str());
  }
}

int run_all(const Arguments& arguments) {
  for (const int number : {SIGALRM, SIGSEGV, SIGABRT, SIGILL, SIGFPE})
    signal(number, report_and_exit);
  Folder folder(arguments.folder);
  Counts counts;
  for (const auto& missing : {operations_without_recipe(), rows_without_recipe()}) {
    for (const std::string& name : missing) {
      ++counts.failed;
      std::printf("\"%s\" has no recipe\n", name.c_str());
    }
  }
  run_seeds("function", arguments.functions, function_subject, arguments, folder, counts);
  run_seeds("model", arguments.models, model_subject, arguments, folder, counts);
  folder.write();
  std::printf("%lld numbers, %lld of them unknown; %lld slopes, %lld more at kinks\n",
              static_cast<long long>(folder.elements()), static_cast<long long>(folder.unknown()),
              static_cast<long long>(counts.slopes.checked),
              static_cast<long long>(counts.slopes.skipped));
  std::printf("%lld passed, %lld failed, 0 skipped\n", static_cast<long long>(counts.passed),
              static_cast<long long>(counts.failed));
  return counts.failed == 0 ? 0 : 1;
}

bool read_number(std::string_view text, auto& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

// "FIRST..END"
bool read_seeds(std::string_view text, Seeds& seeds) {
  const size_t dots = text.find("..");
  return dots != text.npos && read_number(text.substr(0, dots), seeds.first) &&
         read_number(text.substr(dots + 2), seeds.end);
}

bool read(std::string_view argument, Arguments& arguments) {
  const auto value_of = [&](std::string_view key) -> std::optional<std::string_view> {
    if (!argument.starts_with(key)) return std::nullopt;
    return argument.substr(key.size());
  };
  if (argument == "--show") return arguments.shows = true;
  if (argument == "--shaders") return arguments.as_shaders = true;
  if (const auto name = value_of("--without=")) {
    arguments.without.emplace_back(*name);
    return true;
  }
  if (const auto steps = value_of("--steps=")) return read_number(*steps, arguments.steps);
  if (const auto seeds = value_of("--functions=")) return read_seeds(*seeds, arguments.functions);
  if (const auto seeds = value_of("--models=")) return read_seeds(*seeds, arguments.models);
  if (argument.starts_with("--") || !arguments.folder.empty()) return false;
  arguments.folder = argument;
  return true;
}

}  // namespace
}  // namespace lathe::random_tests

int main(int argc, char** argv) {
  lathe::random_tests::Arguments arguments;
  bool good = true;
  for (int i = 1; i < argc; ++i) good = good && lathe::random_tests::read(argv[i], arguments);
  if (!good || arguments.folder.empty()) {
    std::fprintf(stderr,
                 "usage: random_cases FOLDER --functions=FIRST..END [--steps=COUNT] [--show] "
                 "[--shaders]\n");
    return 2;
  }
  return lathe::random_tests::run_all(arguments);
}
