// ONNX models on the command line: what is in them, compiled, with weights of fewer bits.
#include "lathe_onnx.h"

#include <algorithm>
#include <filesystem>

#include "lathe/base/file_name.h"
#include "lathe/base/json.h"
#include "lathe/base/text.h"
#include "lathe/models/folder.h"
#include "lathe/models/onnx/js_wrapper.h"
#include "lathe/models/onnx/model_file.h"
#include "lathe/models/onnx/module.h"
#include "lathe/models/onnx/quantize_weights.h"
#include "lathe/models/onnx/summary.h"
#include "lathe_webgpu.h"

namespace lathe::tool {
namespace {

// The beginning of errors about unspecified sizes, and the hint that is appended here.
constexpr std::string_view kOpen = "sizes of its inputs are open";
constexpr std::string_view kHowToSpecify = "; --shape NAME=1,3,224,224 and --size NAME=N set them";

// Of errors about inputs that decide sizes.
constexpr std::string_view kHowToFix = "; --value NAME=N,… makes an input constant";

std::string display_path(const std::string& path) { return path == "-" ? "standard input" : path; }

std::unexpected<Failure> in_file(const std::string& path, const Error& error) {
  const std::string& why = error.message;
  return std::unexpected(
      Failure(why.starts_with(path) ? why : concat(display_path(path), ": ", why), false));
}

// The model without what it has in other files.
Result<onnx::ModelProto> read(const std::string& path, size_t& size) {
  LATHE_ASSIGN_OR_RETURN(const auto bytes, read_file(path));
  size = bytes.size();
  LATHE_TRY(reject_other_formats(display_path(path), bytes));
  const auto* first = reinterpret_cast<const std::byte*>(bytes.data());
  return onnx::read_model(SharedBytes(first, first + bytes.size()));
}

// The numbers after NAME= of a flag's value. Error: one is none, or below 0 where that may not be.
Outcome<std::vector<int64_t>> counts_of(const char* flag, std::string_view word,
                                        std::string_view text) {
  const bool may_be_less = std::string_view(flag) == "--value";
  std::vector<int64_t> counts;
  constexpr size_t kMaxDigits = 9;
  for (size_t at = 0; at < text.size() || (at == text.size() && text.ends_with(','));) {
    const size_t end = std::min(text.find(',', at), text.size());
    const std::string each(text.substr(at, end - at));
    at = end + 1;
    const std::string digits = each.substr(each.starts_with('-') && may_be_less ? 1 : 0);
    const bool is_count = !digits.empty() && digits.size() <= kMaxDigits &&
                          digits.find_first_not_of("0123456789") == digits.npos;
    if (!is_count) {
      return wrong_use(concat(flag, " ", word, ": \"", each, "\" is no integer"));
    }
    counts.push_back(std::stoll(each));
  }
  return counts;
}

struct Named {
  std::string name;
  std::vector<int64_t> counts;
};

Outcome<std::vector<Named>> named_counts(const Arguments& arguments, const char* flag) {
  std::vector<Named> all;
  for (const std::string& word : arguments.values(flag)) {
    // Names may contain an =.
    const size_t at = word.rfind('=');
    if (at == word.npos || at == 0) return wrong_use(concat(flag, " expects NAME=…, got ", word));
    LATHE_ASSIGN_OR_RETURN(auto counts,
                           counts_of(flag, word, std::string_view(word).substr(at + 1)));
    all.push_back({word.substr(0, at), std::move(counts)});
  }
  return all;
}

std::string grouped(int64_t number) {
  std::string digits = concat(number);
  for (size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}
std::string grouped(uint64_t number) { return grouped(static_cast<int64_t>(number)); }
std::string grouped(double number) { return grouped(static_cast<int64_t>(number)); }

// What `inspect` has found out.
struct Inspected {
  std::string path;
  size_t size = 0;
  onnx::ModelProto model;
  onnx::Summary summary;
  std::vector<std::string> files, problems;
  bool has_cost = false;
  std::string why_no_cost;  // unspecified sizes
  onnx::Cost cost;
};

void find_problems(Inspected& found) {
  for (const onnx::MissingOperator& each : found.summary.missing) {
    std::string nodes;
    for (const std::string& name : each.nodes) {
      append(nodes, nodes.empty() ? "" : ", ", '\'', name, '\'');
    }
    found.problems.push_back(concat("operator ", each.name, " (nodes ", nodes, ')'));
  }
  found.files = onnx::external_files(found.model);
  const auto folder = std::filesystem::path(found.path).parent_path();
  for (const std::string& each : found.files) {
    const auto file = models::file_in_folder(found.path, each);
    if (file) continue;
    std::error_code ignored;
    const bool is_missing =
        stays_in_folder(each) && !std::filesystem::exists(folder / each, ignored);
    found.problems.push_back(is_missing
                                 ? concat("the file ", (folder / each).string(), " is missing")
                                 : file.error().message);
  }
}

// The cost of one call, where sizes are fixed and nothing is missing.
Outcome<void> find_cost(const onnx::InputBindings& bindings, Inspected& found) {
  auto ports = onnx::ports_of(found.model, bindings);
  if (!ports) {
    const bool is_open = ports.error().message.starts_with(kOpen);
    const bool is_specified =
        !bindings.shapes.empty() || !bindings.sizes.empty() || !bindings.values.empty();
    if (is_specified && !is_open) return in_file(found.path, ports.error());
    found.why_no_cost = concat(ports.error().message, is_open ? kHowToSpecify : "");
    return {};
  }
  if (!found.problems.empty()) return {};
  if (auto done = onnx::load_external_files(found.model, found.path); !done) {
    found.problems.push_back(done.error().message);
    return {};
  }
  auto cost = onnx::cost_of(found.model, *ports);
  if (cost) {
    found.cost = std::move(*cost);
    found.has_cost = true;
    return {};
  }
  // The package runs what data decide; only one module cannot.
  const auto traced = onnx::trace(found.model, *ports, {});
  const bool is_segmented = traced && !traced->is_complete;
  (is_segmented ? found.why_no_cost : found.problems.emplace_back()) = cost.error().message;
  return {};
}

void print_ports(const char* what, const std::vector<onnx::ValueInfo>& ports) {
  for (const onnx::ValueInfo& each : ports) {
    print_line(concat("  ", what, ' ', each.name, "  ", onnx::type_text(each.type)));
  }
}

void print_operators(const Inspected& found) {
  size_t width = 8;
  for (const auto& each : found.summary.operators) width = std::max(width, each.name.size());
  print_line(concat("  ", padded("operator", width), right_aligned("version", 9),
                    right_aligned("nodes", 8)));
  for (const onnx::OperatorCount& each : found.summary.operators) {
    print_line(concat("  ", padded(each.name, width), right_aligned(concat(each.version), 9),
                      right_aligned(grouped(each.nodes), 8), each.is_function ? "  function" : "",
                      each.is_missing ? "  unsupported" : ""));
  }
}

void print_parameters(const Inspected& found) {
  int64_t elements = 0, bytes = 0;
  std::string types;
  for (const onnx::ParameterCount& each : found.summary.parameters) {
    elements += each.elements;
    bytes += each.bytes;
    append(types, "  ", padded(std::string(onnx::text(each.type)), 13), grouped(each.elements),
           " in ", each.tensors, each.tensors == 1 ? " tensor, " : " tensors, ",
           grouped(each.bytes), " bytes\n");
  }
  print_text(concat("parameters     ", grouped(elements), ", ", grouped(bytes), " bytes\n", types));
}

void print_text(const Inspected& found) {
  const onnx::ModelProto& model = found.model;
  print_line(concat(display_path(found.path), ": ONNX model", model.producer.empty() ? "" : " of ",
                    model.producer, ", IR version ", model.ir_version, ", ", grouped(found.size),
                    " bytes"));
  for (const auto& [domain, version] : model.sets) {
    print_line(concat("  operator set ", domain.empty() ? "ai.onnx" : domain, " ", version));
  }
  for (const auto& [key, value] : model.metadata) print_line(concat("  ", key, ": ", value));
  print_ports("input", model.graph.inputs);
  print_ports("output", model.graph.outputs);
  print_operators(found);
  print_parameters(found);
  for (const std::string& each : found.files) print_line(concat("external file  ", each));
  if (found.has_cost) {
    const onnx::Cost& cost = found.cost;
    for (const onnx::ValueInfo& each : cost.outputs) {
      print_line(concat("result         ", each.name, ' ', onnx::type_text(each.type)));
    }
    print_line(concat("multiply-adds  ", grouped(cost.multiply_adds), ", ",
                      grouped(2 * cost.multiply_adds), " flops"));
    print_line(concat("memory         ", grouped(cost.constant_bytes), " bytes of constants, ",
                      grouped(cost.temporary_bytes), " of activations, ",
                      grouped(cost.memory_bytes), " in all"));
    print_line(concat("module         ", grouped(cost.module_bytes), " bytes"));
  } else if (!found.why_no_cost.empty()) {
    print_line(concat("cost           unknown: ", found.why_no_cost));
  }
  for (const std::string& each : found.problems) print_line(concat("unsupported: ", each));
}

Json text_json(std::string_view text) { return Json::string(std::string(text)); }
Json number_json(auto number) { return Json::number(static_cast<double>(number)); }

Json ports_json(const std::vector<onnx::ValueInfo>& ports) {
  Json all = Json::array();
  for (const onnx::ValueInfo& each : ports) {
    Json port = Json::object();
    port.add("name", text_json(each.name));
    port.add("type", text_json(onnx::type_text(each.type)));
    all.add(std::move(port));
  }
  return all;
}

Json texts_json(const std::vector<std::string>& texts) {
  Json all = Json::array();
  for (const std::string& each : texts) all.add(text_json(each));
  return all;
}

Json operators_json(const onnx::Summary& summary) {
  Json all = Json::array();
  for (const onnx::OperatorCount& each : summary.operators) {
    Json json = Json::object();
    json.add("name", text_json(each.name));
    json.add("version", number_json(each.version));
    json.add("nodes", number_json(each.nodes));
    if (each.is_function) json.add("function", Json::boolean(true));
    if (each.is_missing) json.add("unsupported", Json::boolean(true));
    all.add(std::move(json));
  }
  return all;
}

Json parameters_json(const onnx::Summary& summary) {
  Json all = Json::object();
  for (const onnx::ParameterCount& each : summary.parameters) {
    Json json = Json::object();
    json.add("tensors", number_json(each.tensors));
    json.add("elements", number_json(each.elements));
    json.add("bytes", number_json(each.bytes));
    all.add(std::string(onnx::text(each.type)), std::move(json));
  }
  return all;
}

Json missing_json(const onnx::Summary& summary) {
  Json all = Json::object();
  for (const onnx::MissingOperator& each : summary.missing) {
    all.add(each.name, texts_json(each.nodes));
  }
  return all;
}

Json cost_json(const onnx::Cost& cost) {
  Json json = Json::object();
  json.add("outputs", ports_json(cost.outputs));
  json.add("multiplyAdds", number_json(cost.multiply_adds));
  json.add("flops", number_json(2 * cost.multiply_adds));
  Json memory = Json::object();
  memory.add("constants", number_json(cost.constant_bytes));
  memory.add("activations", number_json(cost.temporary_bytes));
  memory.add("all", number_json(cost.memory_bytes));
  json.add("memory", std::move(memory));
  json.add("module", number_json(cost.module_bytes));
  return json;
}

void print_json(const Inspected& found) {
  const onnx::ModelProto& model = found.model;
  Json json = Json::object();
  json.add("producer", text_json(model.producer));
  json.add("irVersion", number_json(model.ir_version));
  json.add("bytes", number_json(found.size));
  Json sets = Json::object();
  for (const auto& [domain, version] : model.sets) sets.add(domain, number_json(version));
  json.add("operatorSets", std::move(sets));
  Json metadata = Json::object();
  for (const auto& [key, value] : model.metadata) metadata.add(key, text_json(value));
  json.add("metadata", std::move(metadata));
  json.add("inputs", ports_json(model.graph.inputs));
  json.add("outputs", ports_json(model.graph.outputs));
  json.add("operators", operators_json(found.summary));
  json.add("parameters", parameters_json(found.summary));
  json.add("externalFiles", texts_json(found.files));
  json.add("unsupportedOperators", missing_json(found.summary));
  json.add("problems", texts_json(found.problems));
  if (found.has_cost) json.add("cost", cost_json(found.cost));
  if (!found.why_no_cost.empty()) json.add("costUnknown", text_json(found.why_no_cost));
  print_json_line(json.dump());
}

Status write_text(const std::string& path, const std::string& text) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  return write_file(path, {bytes, text.size()});
}

}  // namespace

bool is_onnx(const std::string& path) {
  if (path.ends_with(".onnx")) return true;
  if (is_folder(path)) return false;
  const auto bytes = read_file(path);
  // A ModelProto begins with its version, or else with another field of its first eight.
  if (!bytes || bytes->size() < 2) return false;
  const uint8_t first = (*bytes)[0];
  constexpr uint8_t kFields[] = {0x08, 0x12, 0x1a, 0x22, 0x28, 0x32, 0x3a, 0x42};
  return std::ranges::find(kFields, first) != std::end(kFields) && (*bytes)[1] >= 1;
}

Outcome<void> reject_flags(const Arguments& arguments, std::initializer_list<const char*> flags,
                           const char* what) {
  for (const char* each : flags) {
    if (arguments.has(each)) return wrong_use(concat(each, " is for ", what));
  }
  return {};
}

Outcome<onnx::InputBindings> sizes_of_flags(const Arguments& arguments) {
  onnx::InputBindings bindings;
  LATHE_ASSIGN_OR_RETURN(const auto shapes, named_counts(arguments, "--shape"));
  for (const Named& each : shapes) bindings.shapes[each.name] = each.counts;
  LATHE_ASSIGN_OR_RETURN(const auto sizes, named_counts(arguments, "--size"));
  for (const Named& each : sizes) {
    if (each.counts.size() != 1) {
      return wrong_use(concat("--size ", each.name, ": expects one size; --shape sets several"));
    }
    bindings.sizes[each.name] = each.counts[0];
  }
  LATHE_ASSIGN_OR_RETURN(const auto values, named_counts(arguments, "--value"));
  for (const Named& each : values) bindings.values[each.name] = each.counts;
  return bindings;
}

Outcome<void> inspect_onnx(const Arguments& arguments) {
  LATHE_TRY(reject_flags(arguments, {"--sizes"}, "models of layers"));
  LATHE_ASSIGN_OR_RETURN(const onnx::InputBindings bindings, sizes_of_flags(arguments));
  Inspected found;
  found.path = arguments.files()[0];
  auto model = read(found.path, found.size);
  if (!model) return in_file(found.path, model.error());
  found.model = std::move(*model);
  found.summary = onnx::summary_of(found.model);
  find_problems(found);
  LATHE_TRY(find_cost(bindings, found));
  if (arguments.has("--json")) {
    print_json(found);
  } else {
    print_text(found);
  }
  if (found.problems.empty()) return {};
  return fail(concat(display_path(found.path), ": ", found.problems.size(),
                     found.problems.size() == 1 ? " thing in it is" : " things in it are",
                     " not supported"));
}

Outcome<void> compile_onnx(const Arguments& arguments) {
  const std::string& path = arguments.files()[0];
  const std::string out = arguments.value("-o");
  if (arguments.files().size() > 1) return wrong_use("a file of options is for models of layers");
  LATHE_TRY(reject_flags(
      arguments,
      {"--weights", "--sizes", "--batch", "--training", "--loss", "--optimizer", "--labels"},
      "models of layers"));
  LATHE_ASSIGN_OR_RETURN(const onnx::InputBindings bindings, sizes_of_flags(arguments));
  std::string driver;
  if (arguments.has("--js")) {
    LATHE_ASSIGN_OR_RETURN(driver, driver_path(out));
  }
  compile::Options options;
  LATHE_ASSIGN_OR_RETURN(const compile::Target* const target, target_of(arguments));
  LATHE_TRY(read_options(arguments, *target, options));
  size_t size = 0;
  auto model = read(path, size);
  if (!model) return in_file(path, model.error());
  if (auto done = onnx::load_external_files(*model, path); !done) {
    return in_file(path, done.error());
  }
  const auto ports = onnx::ports_of(*model, bindings);
  if (!ports) {
    const std::string& why = ports.error().message;
    const bool is_open = why.starts_with(kOpen);
    return in_file(path, Error(concat(why, is_open ? kHowToSpecify : "")));
  }
  auto graph = onnx::graph_of(*model, *ports);
  if (!graph) {
    const std::string& why = graph.error().message;
    const bool depends_on_input = why.contains("it follows from the inputs");
    return in_file(path, Error(concat(why, depends_on_input ? kHowToFix : "")));
  }
  graph::Program program;
  program.entries.push_back(std::move(*graph));
  if (target == &compile::webgpu_target()) {
    return compile_shaders(arguments, std::move(program), options);
  }
  const auto executable = compile::compile(std::move(program), options);
  if (!executable) return in_file(path, executable.error());
  onnx::Wrapper wrapper;
  if (!driver.empty()) {
    auto made = onnx::wrapper_of(*executable, out.substr(out.rfind('/') + 1));
    if (!made) return wrong_use(made.error().message);
    wrapper = std::move(*made);
  }
  LATHE_TRY(write_module(arguments, *executable));
  if (driver.empty()) return {};
  LATHE_TRY(write_text(driver, wrapper.code));
  LATHE_TRY(write_text(concat(driver.substr(0, driver.size() - 4), ".d.mts"), wrapper.types));
  print_line(concat(driver, ": `import { load } from './", driver.substr(driver.rfind('/') + 1),
                    "'` runs it"));
  return {};
}

Outcome<void> convert_onnx(const Arguments& arguments) {
  const std::string& path = arguments.files()[0];
  LATHE_TRY(reject_flags(arguments, {"--sizes", "--quantize", "--training"}, "models of layers"));
  const std::string text = arguments.value("--weights");
  const auto bits = onnx::parse_weight_bits(text);
  if (!bits) {
    return wrong_use(
        concat("of an ONNX model convert changes the weights: --weights must be "
               "float16, int8 or int4, got ",
               text.empty() ? "nothing" : text));
  }
  LATHE_ASSIGN_OR_RETURN(const auto file, read_file(path));
  LATHE_TRY(reject_other_formats(display_path(path), file));
  const auto* first = reinterpret_cast<const std::byte*>(file.data());
  const SharedBytes content(first, first + file.size());
  const auto fewer = onnx::quantize_weights(content, display_path(path), *bits);
  if (!fewer) return std::unexpected(Failure(fewer.error()));
  if (fewer->tensors == 0) {
    return fail(concat(display_path(path), ": none of its weights can be ", text,
                       "; `lathe help convert` lists which can"));
  }
  const std::string out = arguments.value("-o");
  const auto* bytes = reinterpret_cast<const uint8_t*>(fewer->file.data());
  LATHE_TRY(write_file(out, {bytes, fewer->file.size()}));
  if (out == "-") return {};
  print_line(concat(out, ": ", grouped(fewer->file.size()), " bytes; ", fewer->tensors,
                    fewer->tensors == 1 ? " tensor" : " tensors", " as ", text, ", ",
                    grouped(fewer->bytes_before), " bytes before, ", grouped(fewer->bytes_after),
                    " now"));
  return {};
}

}  // namespace lathe::tool
