// The command `lathe`: looks at WebAssembly modules and saved models, compiles models.
#include "lathe.h"

#include <algorithm>

#include "lathe/base/text.h"

namespace lathe::tool {
namespace {

constexpr int kBadInput = 1, kWrongUse = 2;

constexpr Flag kSizes = {"--sizes", "N,…",
                         "sizes of the axes that have any (null), in their order"};

constexpr Flag kCompileFlags[] = {
    {"-o", "OUT.wasm", "where the module goes; without it nothing is written"},
    {"--weights", "FILE.safetensors", "weights instead of those of the model"},
    kSizes,
    {"--batch", "N", "rows of the entries but predict_1; 64 without it"},
    {"--training", "", "train and evaluate as the saved model says"},
    {"--loss", "NAME", "the module also evaluates, with this loss"},
    {"--optimizer", "NAME", "and trains with this optimizer"},
    {"--labels", "dense|sparse", "how labels come: rows like the output, or class numbers"},
    {"--features", "NAME,…", "of the engine: simd,relaxedSimd"},
    {"--schedules", "FILE", "what tl.tune has measured"},
    {"--target", "PART", "the target of that file whose name has this part"},
    {"--dump", "before:PASS|after:PASS", "print the program there; PASS may be *"},
    {"--verify", "", "verify the program after every pass"},
    {"--time-passes", "", "print how long each pass takes"},
    {"--js", "", "also write OUT.mjs, with which node trains the module"}};

constexpr Flag kInspectFlags[] = {kSizes, {"--json", "", "of a model: everything, as JSON"}};

constexpr Flag kConvertFlags[] = {
    {"-o", "FOLDER", "where model.json and its weight files go"},
    kSizes,
    {"--quantize", "float16|uint16|uint8", "store the floats of weights with fewer bits"},
    {"--training", "", "with how it is trained and what the optimizer has gathered"}};

constexpr std::string_view kModelFiles =
    "MODEL is a model.json of TensorFlow.js, of a converter of Keras or of this package, with its\n"
    "weight files or a .safetensors beside it, or the folder that holds it.\n";

constexpr Verb kVerbs[] = {
    {"compile", "MODEL [OPTIONS.json]", "compile a model with its weights to one module",
     kModelFiles, compile, 1, 2, kCompileFlags},
    {"inspect", "MODEL|FILE.wasm",
     "print the layers of a model and what they cost, or what a module holds", kModelFiles, inspect,
     1, 1, kInspectFlags},
    {"convert", "MODEL", "write a model as TensorFlow.js reads it", kModelFiles, convert, 1, 1,
     kConvertFlags},
    {"wat", "FILE.wasm", "print a module as text", "", wat, 1, 1, {}},
    {"validate", "FILE.wasm", "check a module against the specification", "", validate, 1, 1, {}},
    {"passes", "", "print the compiler's passes in order", "", passes, 0, 0, {}},
    {"describe", "", "print the tables of the compiler as JSON", "", describe, 0, 0, {}},
    {"completion",
     "bash",
     "print what completes these words in a shell",
     "In bash: source <(lathe completion bash)\n",
     completion,
     1,
     1,
     {}},
    {"help", "[VERB]", "print this, or all of a verb", "", help, 0, 1, {}},
};

int run(std::span<char* const> words) {
  std::string_view name = words.empty() ? "help" : words[0];
  if (name == "--version") {
    print("lathe " LATHE_VERSION "\n");
    return 0;
  }
  if (name == "--help" || name == "-h") name = "help";
  const auto verb = std::ranges::find(kVerbs, name, &Verb::name);
  if (verb == std::end(kVerbs)) {
    warn(concat("unknown verb \"", name, "\"; `lathe help` lists them"));
    return kWrongUse;
  }
  const auto arguments = Arguments::parse(words.empty() ? words : words.subspan(1), verb->flags,
                                          verb->least_files, verb->most_files);
  const Outcome<void> done = arguments ? verb->run(*arguments) : std::unexpected(arguments.error());
  if (done) return 0;
  if (!done.error().is_wrong_use) {
    warn(done.error().message);
    return kBadInput;
  }
  warn(concat(done.error().message, "\nusage: ", usage(*verb), "\n`lathe help ", name,
              "` tells more"));
  return kWrongUse;
}

}  // namespace

std::span<const Verb> verbs() { return kVerbs; }

}  // namespace lathe::tool

int main(int count, char** words) {
  return count < 1 ? 2 : lathe::tool::run({words + 1, words + count});
}
