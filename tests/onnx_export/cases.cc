// Writes ONNX models with inputs and what they must give, for run.mjs: the table of operation
// cases, over other types too, random functions and all entries of random models. Usage: onnx_cases
// FOLDER FIRST END
#include "cases.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "harness.h"
#include "lathe/base/text.h"
#include "lathe/export/onnx/export.h"
#include "retyped.h"
#include "tests/random/subject.h"

namespace lathe::onnx_tests {
namespace {

using graph::Array;
using graph::DType;
using Arrays = std::map<std::string, Array>;

std::string hex(std::span<const std::byte> data) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::byte b : data) {
    text += kDigits[std::to_integer<size_t>(b) >> 4];
    text += kDigits[std::to_integer<size_t>(b) & 15];
  }
  return text;
}

// {"NAME":["f32",[2,3],"HEX"]…}
std::string json_of(const Arrays& arrays) {
  std::string json = "{";
  for (const auto& [name, array] : arrays) {
    append(json, json.size() > 1 ? "," : "", json_string(name), ":[\"", scalar::text(array.dtype),
           "\",", bracketed(array.shape), ",\"", hex(array.data), "\"]");
  }
  return json + '}';
}

// In ReduceMin of the runtime a NaN does not win.
constexpr std::string_view kDiffers[] = {"argmax_among_nans run"};

struct Test {
  std::string name;
  graph::Graph graph;
  Arrays inputs, states, expected;
  // By output, the tolerance of each element; outputs without one have the defaults of run.mjs.
  std::map<std::string, std::vector<float>> tolerances = {};
};

// States that change are inputs.
Arrays given(const Test& test) {
  Arrays all = test.inputs;
  for (const auto& [name, array] : test.states) {
    const bool is_output = test.expected.contains(name);
    all[is_output ? concat(name, "/before") : name] = array;
  }
  return all;
}

class Folder {
 public:
  explicit Folder(std::filesystem::path path) : path_(std::move(path)) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }

  int written() const { return written_; }
  int skipped() const { return skipped_; }
  int failed() const { return failed_; }

  void add(const Test& test) {
    if (std::ranges::find(kDiffers, test.name) != std::end(kDiffers)) {
      ++skipped_;
      return;
    }
    std::vector<graph::StateContent> contents;
    for (const auto& [name, array] : test.states) contents.push_back({name, array.data});
    auto exported = onnx_export::export_onnx(test.graph, contents);
    if (!exported) {
      const bool is_known = exported.error().message.ends_with("has no operator in ONNX");
      ++(is_known ? skipped_ : failed_);
      if (!is_known) std::printf("%s: %s\n", test.name.c_str(), exported.error().message.c_str());
      return;
    }
    const std::string file = concat(written_++, ".onnx");
    std::ofstream(path_ / file, std::ios::binary)
        .write(reinterpret_cast<const char*>(exported->file.data()),
               static_cast<std::streamsize>(exported->file.size()));
    std::string tolerances = "{";
    for (const auto& [name, tolerance] : test.tolerances) {
      append(tolerances, tolerances.size() > 1 ? "," : "", json_string(name), ":\"",
             hex(std::as_bytes(std::span(tolerance))), '"');
    }
    append(lines_, "{\"name\":", json_string(test.name), ",\"file\":\"", file,
           "\",\"inputs\":", json_of(given(test)), ",\"expected\":", json_of(test.expected),
           ",\"tolerances\":", tolerances, "}}\n");
  }

  void write() const { std::ofstream(path_ / "manifest.jsonl") << lines_; }

 private:
  std::filesystem::path path_;
  std::string lines_;
  int written_ = 0, skipped_ = 0, failed_ = 0;
};

// What the entry gives, also of the states that it updates.
Arrays results_of(const graph::Graph& graph, const Arrays& outputs, const Arrays& states) {
  Arrays results = outputs;
  for (const graph::Update& update : graph.updates) {
    const std::string& name = graph[update.state].name;
    results[concat(name, "/next")] = states.at(name);
  }
  return results;
}

Status add_graph(std::string name, const graph::Graph& graph, Folder& folder) {
  std::mt19937 random(17);
  Test test{std::move(name), graph, {}, {}, {}};
  for (const graph::Node& node : graph.nodes) {
    const bool is_input = node.kind == graph::Kind::Input;
    if (!is_input && node.kind != graph::Kind::State) continue;
    (is_input ? test.inputs : test.states)[node.name] =
        ops_tests::random_array(node.dtype, node.shape, random);
  }
  Arrays states = test.states;
  LATHE_ASSIGN_OR_RETURN(const Arrays outputs, graph::evaluate(graph, test.inputs, states));
  test.expected = results_of(graph, outputs, states);
  folder.add(test);
  return {};
}

// The case, and its gradients, over these types in place of f32 or i32.
Status add_case(const ops_tests::Case& each, int number, Folder& folder) {
  graph::Builder builder("run");
  each.build(builder);
  LATHE_ASSIGN_OR_RETURN(const graph::Graph run, std::move(builder).finish());
  graph::Program program{{run}};
  if (each.differentiable) {
    LATHE_ASSIGN_OR_RETURN(program, ops_tests::with_gradients(run));
  }
  for (const graph::Graph& entry : program.entries) {
    LATHE_TRY(add_graph(concat(each.name, " ", entry.name), entry, folder));
  }
  static constexpr DType kOthers[] = {DType::I8,  DType::U8,  DType::I16, DType::U16, DType::U32,
                                      DType::I64, DType::U64, DType::F64, DType::F16};
  const DType dtype = kOthers[static_cast<size_t>(number) % std::size(kOthers)];
  const auto other =
      ops_tests::retyped(run, scalar::is_float(dtype) ? DType::F32 : DType::I32, dtype);
  if (!other) return {};
  return add_graph(concat(each.name, " ", scalar::text(dtype)), *other, folder);
}

Arrays arrays_of(const random_tests::Named& named) {
  Arrays arrays;
  for (const auto& [name, values] : named) {
    arrays[name] = {values.dtype, values.shape, random_tests::bytes_of(values)};
  }
  return arrays;
}

Status add_subject(const random_tests::Subject& subject, Folder& folder) {
  for (size_t i = 0; i < subject.program.entries.size(); ++i) {
    const graph::Graph& entry = subject.program.entries[i];
    const random_tests::Outcome outcome =
        random_tests::expected(entry, subject.inputs[i], subject.states, {});
    Test test{concat(subject.name, " ", entry.name), entry, arrays_of(subject.inputs[i]), {}, {}};
    test.states = arrays_of(subject.states);
    test.expected = results_of(entry, arrays_of(outcome.outputs), arrays_of(outcome.states));
    const auto add_tolerances = [&](const random_tests::Named& named, std::string_view behind) {
      for (const auto& [name, values] : named) {
        std::vector<float>& tolerance = test.tolerances[concat(name, behind)];
        double most = 0;
        for (const auto& element : values.elements)
          most = std::fmax(most, std::fabs(element.value));
        for (const random_tests::Bounded& element : values.elements) {
          // Operators of the runtime are less exact than ours.
          tolerance.push_back(
              static_cast<float>(element.is_sure() ? 0 : 8 * element.error + 1e-6 * most + 1e-12));
        }
      }
    };
    add_tolerances(outcome.outputs, "");
    add_tolerances(outcome.states, "/next");
    folder.add(test);
  }
  return {};
}

int run(const std::string& path, uint64_t first, uint64_t end) {
  Folder folder(path);
  int failed = 0, number = 0;
  const auto check = [&](std::string_view name, const Status& status) {
    if (status) return;
    ++failed;
    std::printf("%s: %s\n", std::string(name).c_str(), status.error().message.c_str());
  };
  namespace tables = ops_tests;
  for (const auto table :
       {tables::cases, tables::loop_cases, tables::control_cases, tables::node_cases,
        tables::window_cases, tables::edge_cases, tables::memory_cases, tables::quantized_cases}) {
    for (const ops_tests::Case& each : table()) check(each.name, add_case(each, number++, folder));
  }
  for (uint64_t seed = first; seed < end; ++seed) {
    for (const auto subject_of : {random_tests::function_subject, random_tests::model_subject}) {
      const auto subject = subject_of(seed, -1);
      check(concat("seed ", seed),
            subject ? add_subject(*subject, folder) : Status(std::unexpected(subject.error())));
    }
  }
  folder.write();
  failed += folder.failed();
  std::printf("%d passed, %d failed, %d skipped\n", folder.written(), failed, folder.skipped());
  return failed == 0 && folder.written() > 0 ? 0 : 1;
}

bool read_number(const char* text, uint64_t& number) {
  const char* end = text + std::string_view(text).size();
  const auto [stop, error] = std::from_chars(text, end, number);
  return error == std::errc() && stop == end;
}

}  // namespace
}  // namespace lathe::onnx_tests

int main(int argc, char** argv) {
  uint64_t first = 0, end = 0;
  if (argc != 4 || !lathe::onnx_tests::read_number(argv[2], first) ||
      !lathe::onnx_tests::read_number(argv[3], end)) {
    std::fprintf(stderr, "usage: onnx_export_cases FOLDER FIRST END\n");
    return 2;
  }
  return lathe::onnx_tests::run(argv[1], first, end);
}
