// The command `lathe`: looks at WebAssembly modules and saved models, compiles models.
#include "lathe.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "lathe/base/text.h"

namespace lathe::tool {
namespace {

constexpr int kBadInput = 1, kWrongUse = 2;

constexpr Flag kSizes = {"--sizes", "N,…",
                         "sizes of the axes that have any (null), in their order"};

constexpr Flag kShape = {"--shape", "NAME=N,…",
                         "of an ONNX model: the shape of an input; several times"};
constexpr Flag kSize = {"--size", "NAME=N", "the size that the model calls so; several times"};

constexpr Flag kValue = {"--value", "NAME=N,…",
                         "make an input of integers this constant; several times"};

constexpr Flag kTarget = {"--target", "wasm|webgpu", "one module, or shaders; wasm without it"};

constexpr Flag kCompileFlags[] = {
    {"-o", "OUT.wasm|OUT.mjs", "output file; without it no file is created"},
    kTarget,
    {"--weights", "FILE.safetensors", "weights instead of those of the model"},
    kSizes,
    kShape,
    kSize,
    kValue,
    {"--batch", "N", "rows of the entries but predict_1; 64 without it"},
    {"--training", "", "train and evaluate with the saved model's training configuration"},
    {"--loss", "NAME", "the module also evaluates, with this loss"},
    {"--optimizer", "NAME", "and trains with this optimizer"},
    {"--labels", "dense|sparse", "how labels come: rows like the output, or class numbers"},
    {"--features", "[NAME,…]", "of the engine; simd,relaxedSimd without it"},
    {"--schedules", "FILE", "what tl.tune has measured"},
    {"--tuned-for", "PART", "the target of that file whose name has this part"},
    {"--dump", "before:PASS|after:PASS", "print the program there; PASS may be *"},
    {"--verify", "", "verify the program after every pass"},
    {"--time-passes", "", "print the time of each pass"},
    {"--js", "",
     "also write OUT.mjs, which trains the module; of an ONNX model runs it, with types"}};

constexpr Flag kPassesFlags[] = {kTarget};

constexpr Flag kInspectFlags[] = {
    kSizes, kShape, kSize, kValue, {"--json", "", "of a model: everything, as JSON"}};

constexpr Flag kConvertFlags[] = {
    {"-o", "FOLDER|OUT.onnx", "where model.json and its weight files go, or the ONNX model"},
    {"--batch", "N", "rows of the ONNX model of a saved model; any number without it"},
    {"--weights", "float16|int8|int4", "of an ONNX model: store its weights with fewer bits"},
    kSizes,
    {"--quantize", "float16|uint16|uint8", "store the floats of weights with fewer bits"},
    {"--training", "", "with how it is trained and what the optimizer has gathered"}};

constexpr Flag kRunFlags[] = {
    {"--input", "NAME=FILE", "the value of an input; NAME= is optional if there is only one"},
    {"--output", "NAME=FILE", "write an output, .npy or else only its elements; several times"},
    {"--top", "N",
     "print the N largest of each row of the first output, by the lines of LABELS.txt"},
    kShape,
    {"--mean", "NUMBER,…", "of images, for each channel or all"},
    {"--std", "NUMBER,…", "of images, for each channel or all"},
    {"--layout", "nchw|nhwc", "of images; without it inferred from the shape"},
    {"--package", "FOLDER", "where the npm package is found from"}};

constexpr std::string_view kModelFiles =
    "MODEL is a model.json of TensorFlow.js, of a converter of Keras or of this package, with its\n"
    "weight files or a .safetensors next to it, or the folder that contains it; or an ONNX model, "
    "with\n"
    "the files of its weights in its folder.\n";
constexpr std::string_view kCompileMore =
    "MODEL is a model.json of TensorFlow.js, of a converter of Keras or of this package, with its\n"
    "weight files or a .safetensors next to it, or the folder that contains it; or an ONNX model, "
    "with\n"
    "the files of its weights in its folder. Of that the module has one entry, run, for the sizes\n"
    "of the model or of --shape and --size. Of the flags it accepts these, --features, "
    "--schedules,\n"
    "--tuned-for, --dump, --verify, --time-passes, --js and --target.\n\n"
    "--target=webgpu -o OUT.mjs writes shaders that any device of WebGPU runs, with its default\n"
    "limits: OUT.mjs, whose load() resolves with a function per entry, OUT.d.mts with its types,\n"
    "OUT.json with the shaders and what they bind, and OUT.bin with the weights. Integers have 32\n"
    "bits there, and float64 does not exist.\n";
constexpr std::string_view kConvertMore =
    "MODEL is a model.json of TensorFlow.js, of a converter of Keras or of this package, with its\n"
    "weight files or a .safetensors next to it, or the folder that contains it; or an ONNX model, "
    "whose\n"
    "large float32 weights --weights stores in fewer bits, computing in float32 as before:\n"
    "    float16  all of them\n"
    "    int8     per channel: of Conv, ConvTranspose, MatMul, Gemm, Gather, LSTM, GRU, RNN\n"
    "    int4     matrices on the right of MatMul, in blocks of 32 (com.microsoft.MatMulNBits)\n"
    "Weights in other files move into the new one.\n";
constexpr std::string_view kRunMore =
    "There is no native engine yet: this drives Node (LATHE_NODE, or node of the PATH) with the "
    "npm\n"
    "package tensorlathe, found from the folder of this program, from ../lib of it, where npm\n"
    "install -g puts packages, or from the folder of --package; never from the working directory.\n"
    "JPEG and PNG need the packages jpeg-js and pngjs next to it.\n\n"
    "FILE is an array (.npy), a TensorProto (.pb), an image (.jpg, .png) or else only the "
    "elements,\n"
    "little-endian. An image is resized to the input's size (224 where that is open), bilinear, "
    "and\n"
    "its channels are (value / 255 - mean) / std. Without --mean and --std those are of ImageNet "
    "for\n"
    "three channels (0.485,0.456,0.406 and 0.229,0.224,0.225), 0 and 1 for one; inputs of "
    "integers\n"
    "get the bytes as they are. --std=0.0039215686 --mean=0 yields 0 to 255.\n";

constexpr Verb kVerbs[] = {
    {"compile", "MODEL [OPTIONS.json]",
     "compile a model with its weights to one module, or to shaders", kCompileMore, compile, 1, 2,
     kCompileFlags},
    {"inspect", "MODEL|FILE.wasm",
     "print the layers of a model and what they cost, or the contents of a module", kModelFiles,
     inspect, 1, 1, kInspectFlags},
    {"convert", "MODEL",
     "write a model as TensorFlow.js reads it or as ONNX, or ONNX weights with fewer bits",
     kConvertMore, convert, 1, 1, kConvertFlags},
    {"run", "MODEL.onnx [LABELS.txt]", "run an ONNX model in Node", kRunMore, run_model, 1, 2,
     kRunFlags},
    {"wat", "FILE.wasm", "print a module as text", "", wat, 1, 1, {}},
    {"validate", "FILE.wasm", "check a module against the specification", "", validate, 1, 1, {}},
    {"passes", "", "print the compiler's passes in order", "", passes, 0, 0, kPassesFlags},
    {"operators",
     "",
     "print the operators of ONNX that can be imported",
     "Each with the versions of its operator set and the types of its first operand.\n",
     operators,
     0,
     0,
     {}},
    {"describe", "", "print the tables of the compiler as JSON", "", describe, 0, 0, {}},
    {"completion",
     "bash|zsh|fish",
     "print what completes these words in a shell",
     "Where each shell reads what it starts with:\n"
     "    bash  source <(lathe completion bash)\n"
     "    zsh   source <(lathe completion zsh), behind compinit\n"
     "    fish  lathe completion fish | source\n",
     completion,
     1,
     1,
     {}},
    {"help", "[VERB]", "print this, or all of a verb", "", help, 0, 1, {}},
};

// What is printed counts only where it has arrived: a disk may be full.
int after_printing() {
  const bool failed = std::ferror(stdout) != 0;
  if (std::fflush(stdout) == 0 && !failed) return 0;
  warn(concat("standard output: ", std::strerror(errno)));
  return kBadInput;
}

std::vector<std::string_view> names_of_verbs() {
  std::vector<std::string_view> names;
  for (const Verb& each : kVerbs) names.push_back(each.name);
  return names;
}

int run(std::span<char* const> words) {
  std::string_view name = words.empty() ? "help" : words[0];
  if (name == "--version") {
    print_line("lathe " LATHE_VERSION);
    return after_printing();
  }
  const auto is_help = [](std::string_view word) { return word == "--help" || word == "-h"; };
  if (is_help(name)) name = "help";
  auto verb = std::ranges::find(kVerbs, name, &Verb::name);
  if (verb == std::end(kVerbs)) {
    const std::string hint = suggestion(name, names_of_verbs());
    warn(concat("unknown verb \"", name, "\"", hint, hint.empty() ? "; " : " ",
                "`lathe help` lists them"));
    return kWrongUse;
  }
  auto rest = words.empty() ? words : words.subspan(1);
  // `VERB --help` is `help VERB`.
  if (std::ranges::any_of(rest, is_help)) {
    verb = std::ranges::find(kVerbs, "help", &Verb::name);
    rest = words.first(name == "help" ? 0 : 1);
  }
  const auto arguments = Arguments::parse(rest, verb->flags, verb->min_files, verb->max_files);
  const Outcome<void> done = arguments ? verb->run(*arguments) : std::unexpected(arguments.error());
  if (done) return after_printing();
  if (!done.error().is_wrong_use) {
    if (!done.error().message.empty()) warn(done.error().message);
    return kBadInput;
  }
  warn(done.error().message);
  print_line(concat("usage: ", usage(*verb)), stderr);
  print_line(concat("`lathe help ", name, "` has details"), stderr);
  return kWrongUse;
}

}  // namespace

std::span<const Verb> verbs() { return kVerbs; }

}  // namespace lathe::tool

int main(int count, char** words) {
  return count < 1 ? 2 : lathe::tool::run({words + 1, words + count});
}
