// Saved models on the command line: where they are, what is in them, what they cost.
#include <algorithm>
#include <filesystem>

#include "lathe.h"
#include "lathe/base/json_writer.h"
#include "lathe/base/text.h"
#include "lathe/models/cost.h"
#include "lathe/models/folder.h"
#include "lathe/models/null_axes.h"
#include "lathe/network/json_reader.h"
#include "lathe/network/network_json.h"

namespace lathe::tool {
namespace {

// Sizes tried for all null axes at once where none are specified.
constexpr int64_t kTried[] = {32, 64, 1024, 256, 16, 8, 128, 512, 4, 2, 1, 10, 100};

// The model of a description, with the specified sizes or else the first that fit.
Result<nn::Model> model_of(const models::Description& found, std::vector<int64_t>& sizes) {
  const size_t open = models::count_null_axes(found.network);
  const bool has_sizes = !sizes.empty() || open == 0;
  Result<nn::Model> made = fail("no sizes fit");
  for (const int64_t tried : kTried) {
    const std::vector<int64_t> all = has_sizes ? sizes : std::vector<int64_t>(open, tried);
    const auto network = models::bind_null_axes(found.network, all);
    auto model = network ? network::parse_model(network->dump())
                         : Result<nn::Model>(std::unexpected(network.error()));
    if (model) {
      sizes = all;
      return model;
    }
    if (tried == kTried[0]) made = std::move(model);
    if (has_sizes) break;
  }
  return made;
}

// 1234567 -> "1,234,567".
std::string grouped(double number) {
  std::string digits = concat(static_cast<uint64_t>(number));
  for (size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string shapes_of(const std::vector<graph::Shape>& shapes) {
  std::string text;
  for (const graph::Shape& shape : shapes) {
    append(text, text.empty() ? "" : " ", bracketed(shape));
  }
  return text;
}

struct Line {
  std::string name, shape;
  double parameters = 0, products = 0;
};

void add_lines(const nn::Model& model, const std::string& prefix, const std::string& indent,
               const models::Cost& cost, std::vector<Line>& lines) {
  for (const nn::BuiltLayer& built : model.layers()) {
    const std::string path = concat(prefix, built.name);
    Line line{concat(indent, built.name, " (", built.layer->class_name(), ")"),
              shapes_of(built.outputs), static_cast<double>(built.parameter_count())};
    for (const auto& [name, products] : cost.multiply_adds) {
      if (name == path || name.starts_with(concat(path, "/"))) line.products += products;
    }
    lines.push_back(std::move(line));
    if (const nn::Model* inner = built.layer->model()) {
      add_lines(*inner, concat(path, "/"), concat(indent, "  "), cost, lines);
    }
  }
}

void print_lines(const std::vector<Line>& lines) {
  size_t name_width = 8, shape_width = 12;
  for (const Line& line : lines) {
    name_width = std::max(name_width, line.name.size());
    shape_width = std::max(shape_width, line.shape.size());
  }
  const auto print_row = [&](const std::string& name, const std::string& shape,
                             const std::string& parameters, const std::string& products) {
    print_line(concat("  ", padded(name, name_width), "  ", padded(shape, shape_width),
                      right_aligned(parameters, 14), right_aligned(products, 18)));
  };
  print_row("layer", "output shape", "parameters", "multiply-adds");
  for (const Line& line : lines) {
    print_row(line.name, line.shape, grouped(line.parameters), grouped(line.products));
  }
}

void print_model(const nn::Model& model, const models::Cost& cost) {
  double parameters = 0, trainable = 0;
  for (const nn::Variable& weight : model.weights()) {
    const auto count = static_cast<double>(graph::element_count(weight.shape));
    parameters += count;
    if (weight.trainable) trainable += count;
  }
  for (const nn::Port& input : model.inputs()) {
    print_line(concat("  input ", input.name, ' ', bracketed(model.shape(input.value))));
  }
  std::vector<Line> lines;
  add_lines(model, "", "", cost, lines);
  print_lines(lines);
  for (const nn::Port& output : model.outputs()) {
    print_line(concat("  output ", output.name, ' ', bracketed(model.shape(output.value))));
  }
  print_line(
      concat("parameters     ", grouped(parameters), ", ", grouped(trainable), " trainable"));
  print_line(concat("multiply-adds  ", grouped(cost.all_multiply_adds), " for one example"));
  print_line(concat("memory         ", grouped(static_cast<double>(cost.weight_bytes)),
                    " bytes of weights, ", grouped(static_cast<double>(cost.activation_bytes)),
                    " of activations, ", grouped(static_cast<double>(cost.memory_bytes)),
                    " in all to predict one example"));
  print_line(concat("code           ", grouped(static_cast<double>(cost.module_bytes)), " bytes"));
}

void print_json(const models::Description& found, const nn::Model* model,
                const models::Cost* cost) {
  JsonWriter json;
  json.begin_object().key("network").raw(found.network.dump());
  json.member("problems", found.problems).member("warnings", found.warnings);
  if (model != nullptr) json.key("summary").raw(network::summary(*model));
  if (cost != nullptr) {
    json.member("multiplyAdds", cost->all_multiply_adds).key("layers").begin_object();
    for (const auto& [name, products] : cost->multiply_adds) json.member(name, products);
    json.end_object().key("memory").begin_object().member("weights", cost->weight_bytes);
    json.member("activations", cost->activation_bytes).member("all", cost->memory_bytes);
    json.end_object().member("code", cost->module_bytes);
  }
  print_json_line(json.end_object().json());
}

}  // namespace

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return path != "-" && std::filesystem::is_directory(path, ignored);
}

Outcome<std::vector<int64_t>> sizes_of(const Arguments& arguments) {
  std::vector<int64_t> sizes;
  if (!arguments.has("--sizes")) return sizes;
  const std::string text = concat(arguments.value("--sizes"), ",");
  constexpr size_t kMaxDigits = 9;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find(',', at);
    const std::string each = text.substr(at, end - at);
    at = end + 1;
    const bool is_count = !each.empty() && each.size() <= kMaxDigits &&
                          each.find_first_not_of("0123456789") == each.npos;
    if (!is_count) {
      return wrong_use(concat("--sizes must be integers like 224,224, got \"", each, '"'));
    }
    sizes.push_back(std::stoll(each));
  }
  return sizes;
}

Result<models::SavedModel> open_model(const std::string& path, const models::LoadOptions& options) {
  LATHE_ASSIGN_OR_RETURN(const std::string file, model_file(path));
  const std::string name = path == "-" ? "standard input" : file;
  LATHE_ASSIGN_OR_RETURN(const auto bytes, read_file(file));
  LATHE_TRY(reject_other_formats(name, bytes));
  const auto read_sibling = [&](std::string_view sibling) -> Result<std::vector<std::byte>> {
    LATHE_ASSIGN_OR_RETURN(const auto found, models::file_in_folder(file, sibling));
    LATHE_ASSIGN_OR_RETURN(const auto content, read_file(found));
    const auto* first = reinterpret_cast<const std::byte*>(content.data());
    return std::vector<std::byte>(first, first + content.size());
  };
  auto saved = models::read_model(text_of(bytes), name, read_sibling, options);
  if (!saved) return saved;
  for (const std::string& warning : saved->warnings) warn(concat(path, ": ", warning));
  return saved;
}

Outcome<void> inspect_model(const std::string& path, const std::string& text,
                            const Arguments& arguments) {
  const std::string name = path == "-" ? "standard input" : path;
  LATHE_ASSIGN_OR_RETURN(std::vector<int64_t> sizes, sizes_of(arguments));
  LATHE_ASSIGN_OR_RETURN(models::Description found, models::describe_model(text, name));
  const bool is_json = arguments.has("--json");
  if (found.problems.empty()) {
    const bool is_chosen = sizes.empty() && models::count_null_axes(found.network) > 0;
    auto model = model_of(found, sizes);
    if (model) {
      auto cost = models::cost_of(*model);
      if (!cost) return fail(concat(name, ": ", cost.error().message));
      if (is_json) {
        print_json(found, &*model, &*cost);
        return {};
      }
      print_line(concat(name, ": model ", model->name(), ", ", model->layers().size(), " layers"));
      if (is_chosen)
        print_line(concat("  null axes as ", bracketed(sizes), "; --sizes sets others"));
      print_model(*model, *cost);
      for (const std::string& warning : found.warnings) print_line(concat("note: ", warning));
      return {};
    }
    found.problems.push_back(model.error().message);
  }
  if (is_json) {
    print_json(found, nullptr, nullptr);
  } else {
    for (const std::string& problem : found.problems) print_line(concat("unsupported: ", problem));
  }
  return fail(concat(name, ": ", found.problems.size(),
                     found.problems.size() == 1 ? " thing in it is" : " things in it are",
                     " not supported"));
}

}  // namespace lathe::tool
