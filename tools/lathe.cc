// The command `lathe`: looks at WebAssembly modules and compiles models.
#include "lathe.h"

#include <algorithm>
#include <cstdio>

#include "lathe/base/text.h"

namespace lathe::tool {
namespace {

struct Verb {
  std::string_view name, usage, what;
  Status (*run)(const Arguments&);
  size_t least_files, most_files;
  std::span<const Flag> flags;
};

Status help(const Arguments&);

constexpr Flag kCompileFlags[] = {{"-o", true},          {"--weights", true}, {"--loss", true},
                                  {"--optimizer", true}, {"--labels", true},  {"--features", true},
                                  {"--schedules", true}, {"--target", true},  {"--dump", true},
                                  {"--verify"},          {"--time-passes"}};

constexpr Verb kVerbs[] = {
    {"wat", "FILE.wasm", "print a module as text", wat, 1, 1, {}},
    {"validate", "FILE.wasm", "check a module against the specification", validate, 1, 1, {}},
    {"inspect", "FILE.wasm", "print sections, exports, features and metadata", inspect, 1, 1, {}},
    {"compile",
     "MODEL.json [OPTIONS.json] [-o OUT.wasm] [--weights FILE.safetensors]\n"
     "        [--loss NAME] [--optimizer NAME] [--labels dense|sparse]\n"
     "        [--features=simd,relaxedSimd] [--schedules=FILE [--target=PART]]\n"
     "        [--dump=before:PASS|after:PASS]… [--verify] [--time-passes]",
     "compile a model with its weights to one stand-alone module", compile, 1, 2, kCompileFlags},
    {"passes", "", "print the compiler's passes in order", passes, 0, 0, {}},
    {"describe", "", "print the tables of the compiler as JSON", describe, 0, 0, {}},
    {"help", "", "print this", help, 0, 0, {}},
};

std::string usage(const Verb& verb) {
  return concat("lathe ", verb.name, verb.usage.empty() ? "" : " ", verb.usage);
}

Status help(const Arguments&) {
  for (const Verb& verb : kVerbs) print(concat(usage(verb), "\n    ", verb.what, "\n"));
  return {};
}

void print_error(const std::string& message) {
  std::fprintf(stderr, "lathe: %s\n", message.c_str());
}

int run(std::span<char* const> words) {
  const std::string_view name = words.empty() ? "help" : words[0];
  const auto verb =
      std::ranges::find(kVerbs, name == "--help" || name == "-h" ? "help" : name, &Verb::name);
  if (verb == std::end(kVerbs)) {
    print_error(concat("unknown verb \"", name, "\"; `lathe help` lists them"));
    return 2;
  }
  const auto arguments = Arguments::parse(words.empty() ? words : words.subspan(1), verb->flags,
                                          verb->least_files, verb->most_files);
  if (!arguments) {
    print_error(concat(arguments.error().message, "\nusage: ", usage(*verb)));
    return 2;
  }
  if (const Status status = verb->run(*arguments); !status) {
    print_error(status.error().message);
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace lathe::tool

int main(int count, char** words) {
  return count < 1 ? 2 : lathe::tool::run({words + 1, words + count});
}
