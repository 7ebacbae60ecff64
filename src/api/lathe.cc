#include "lathe/api/lathe.h"

#include "lathe/api/error.h"
#include "lathe/api/layer_graph.h"
#include "lathe/api/layer_host.h"
#include "lathe/api/objects.h"
#include "lathe/api/schedule_json.h"
#include "lathe/base/text.h"
#include "lathe/graph/binary.h"

namespace {

using lathe::Result;
using lathe::Status;
using lathe::api::Executable;
using lathe::api::GraphSession;
using lathe::api::last_error;
using lathe::api::Model;
using lathe::api::objects;
using lathe::graph::Tensor;

struct State {
  std::vector<double> values{0};  // result of the last function that returns values
  std::string layer_graph;        // that of the last call of lathe_layer_graph
  std::string model_graph;        // that of the last call of lathe_model_graph
  lathe::graph::Encoded encoded;  // that of the last call of lathe_graph_encode, and its result
  std::vector<size_t> encoded_parts;
  char* (*layer_host)(const char* question, size_t length) = nullptr;
};

State& state() {
  static State the_state;
  return the_state;
}

std::string_view text_of(const char* text, size_t length) {
  return text == nullptr ? std::string_view() : std::string_view(text, length);
}

template <class T>
constexpr std::string_view kName = {};
template <>
constexpr std::string_view kName<Model> = "model";
template <>
constexpr std::string_view kName<GraphSession> = "graph";
template <>
constexpr std::string_view kName<Executable> = "executable";

// The object of a handle, or null with the reason in the error.
template <class T>
T* find(int32_t handle) {
  T* object = objects().find<T>(handle);
  if (object == nullptr) last_error() = lathe::concat("there is no ", kName<T>, ' ', handle);
  return object;
}

template <class T>
int32_t remove(int32_t handle) {
  if (find<T>(handle) == nullptr) return 0;
  objects().remove(handle);
  return 1;
}

template <class T>
int32_t to_handle(Result<T> object) {
  if (object) return objects().add(std::move(*object));
  last_error() = object.error().message;
  return 0;
}

int32_t done(Status status) {
  if (status) return 1;
  last_error() = status.error().message;
  return 0;
}

std::span<const Tensor> all_of(const Tensor& tensor) { return {&tensor, 1}; }
std::span<const Tensor> all_of(const std::vector<Tensor>& tensors) { return tensors; }

// The result of functions that return values.
template <class T>
const double* described(GraphSession& graph, const Result<T>& result) {
  if (!result) {
    last_error() = result.error().message;
    return nullptr;
  }
  std::vector<double>& values = state().values;
  values.clear();
  for (const Tensor& each : all_of(*result)) {
    const lathe::graph::Shape& shape = each.shape();
    values.push_back(graph.number_of(each));
    values.push_back(static_cast<double>(each.dtype()));
    values.push_back(static_cast<double>(shape.size()));
    for (const int64_t size : shape) values.push_back(static_cast<double>(size));
  }
  return values.data();
}

Result<std::string> query_layer_host(std::string_view question) {
  char* answer = state().layer_host(question.data(), question.size());
  if (answer == nullptr) return lathe::fail("the layer's host returned no answer");
  std::string text = answer;
  lathe_free(answer);
  return text;
}

}  // namespace

extern "C" {

int32_t lathe_model_create(const char* json, size_t length) {
  return to_handle(lathe::api::create_model(text_of(json, length)));
}

void lathe_use_layer_host(char* (*host)(const char* question, size_t length)) {
  state().layer_host = host;
  lathe::api::use_layer_host(host == nullptr ? nullptr : query_layer_host);
}

int32_t lathe_model_free(int32_t model) { return remove<Model>(model); }

const char* lathe_model_summary(int32_t model) {
  const Model* found = find<Model>(model);
  return found == nullptr ? nullptr : found->summary.c_str();
}

int32_t lathe_model_compile(int32_t model, const char* json, size_t length) {
  const Model* found = find<Model>(model);
  if (found == nullptr) return 0;
  return to_handle(lathe::api::compile_model(found->network, text_of(json, length)));
}

int32_t lathe_model_check(int32_t model, const char* json, size_t length) {
  const Model* found = find<Model>(model);
  if (found == nullptr) return 0;
  return done(lathe::api::check_model(found->network, text_of(json, length)));
}

const char* lathe_model_graph(int32_t model, const char* json, size_t length) {
  const Model* found = find<Model>(model);
  if (found == nullptr) return nullptr;
  auto made = lathe::api::model_program(found->network, text_of(json, length));
  if (!made) {
    last_error() = made.error().message;
    return nullptr;
  }
  const int32_t handle = objects().add(GraphSession(std::move(made->program)));
  state().model_graph = lathe::concat("{\"graph\":", handle, ',', made->description, '}');
  return state().model_graph.c_str();
}

const char* lathe_layer_graph(const char* json, size_t length) {
  auto made = lathe::api::layer_graph(text_of(json, length));
  if (!made) {
    last_error() = made.error().message;
    return nullptr;
  }
  const int32_t handle = objects().add(std::move(made->session));
  state().layer_graph = lathe::concat("{\"graph\":", handle, ',', made->ports, '}');
  return state().layer_graph.c_str();
}

int32_t lathe_graph_create() { return objects().add(GraphSession()); }

int32_t lathe_graph_free(int32_t graph) { return remove<GraphSession>(graph); }

int32_t lathe_graph_entry(int32_t graph, const char* name, size_t length) {
  GraphSession* found = find<GraphSession>(graph);
  return found == nullptr ? 0 : done(found->begin_entry(text_of(name, length)));
}

const double* lathe_graph_input(int32_t graph, const double* words, size_t count) {
  GraphSession* found = find<GraphSession>(graph);
  return found == nullptr ? nullptr : described(*found, found->input({words, count}));
}

const double* lathe_graph_state(int32_t graph, const double* words, size_t count) {
  GraphSession* found = find<GraphSession>(graph);
  return found == nullptr ? nullptr : described(*found, found->state({words, count}));
}

const double* lathe_graph_constant(int32_t graph, const double* words, size_t count, void* data,
                                   size_t size) {
  lathe::SharedBytes bytes = lathe::api::adopt_bytes(data, size);
  GraphSession* found = find<GraphSession>(graph);
  if (found == nullptr) return nullptr;
  return described(*found, found->constant({words, count}, std::move(bytes)));
}

const double* lathe_graph_operation(int32_t graph, const double* words, size_t count) {
  GraphSession* found = find<GraphSession>(graph);
  return found == nullptr ? nullptr : described(*found, found->operation({words, count}));
}

const double* lathe_graph_gradients(int32_t graph, const double* words, size_t count) {
  GraphSession* found = find<GraphSession>(graph);
  return found == nullptr ? nullptr : described(*found, found->gradients({words, count}));
}

int32_t lathe_graph_begin_body(int32_t graph) {
  GraphSession* found = find<GraphSession>(graph);
  return found == nullptr ? 0 : done(found->begin_body());
}

int32_t lathe_graph_end_body(int32_t graph) {
  GraphSession* found = find<GraphSession>(graph);
  if (found == nullptr) return 0;
  const auto number = found->end_body();
  if (number) return *number;
  last_error() = number.error().message;
  return 0;
}

const double* lathe_graph_cond(int32_t graph, const double* words, size_t count) {
  GraphSession* found = find<GraphSession>(graph);
  return found == nullptr ? nullptr : described(*found, found->cond({words, count}));
}

const double* lathe_graph_while(int32_t graph, const double* words, size_t count) {
  GraphSession* found = find<GraphSession>(graph);
  return found == nullptr ? nullptr : described(*found, found->while_loop({words, count}));
}

const double* lathe_graph_values(int32_t graph, const double* numbers, size_t count) {
  GraphSession* found = find<GraphSession>(graph);
  return found == nullptr ? nullptr : described(*found, found->tensors({numbers, count}));
}

int32_t lathe_graph_output(int32_t graph, const char* name, size_t length, int32_t value) {
  GraphSession* found = find<GraphSession>(graph);
  return found == nullptr ? 0 : done(found->output(text_of(name, length), value));
}

int32_t lathe_graph_update(int32_t graph, int32_t state, int32_t value) {
  GraphSession* found = find<GraphSession>(graph);
  return found == nullptr ? 0 : done(found->update(state, value));
}

int32_t lathe_graph_segment(int32_t graph, const double* words, size_t count) {
  GraphSession* found = find<GraphSession>(graph);
  return found == nullptr ? 0 : to_handle(found->segment({words, count}));
}

int32_t lathe_graph_decode(const uint8_t* bytes, size_t size, const size_t* constants,
                           size_t count) {
  std::vector<lathe::SharedBytes> data;
  for (size_t k = 0; k < count; ++k) {
    data.push_back(
        lathe::api::adopt_bytes(reinterpret_cast<void*>(constants[2 * k]), constants[2 * k + 1]));
  }
  return to_handle(GraphSession::decode({bytes, size}, data));
}

const size_t* lathe_graph_encode(int32_t graph, int32_t entry, int32_t keeps_float16) {
  const GraphSession* found = find<GraphSession>(graph);
  if (found == nullptr) return nullptr;
  auto encoded = found->encode(entry, keeps_float16 != 0);
  if (!encoded) {
    last_error() = encoded.error().message;
    return nullptr;
  }
  const auto& [bytes, constants] = state().encoded = std::move(*encoded);
  const auto address = [](const void* at) { return reinterpret_cast<size_t>(at); };
  std::vector<size_t>& parts = state().encoded_parts;
  parts = {address(bytes.data()), bytes.size(), constants.size()};
  for (const lathe::SharedBytes& each : constants) {
    parts.insert(parts.end(), {address(each.data()), each.size()});
  }
  return parts.data();
}

const double* lathe_graph_inline(int32_t graph, const double* words, size_t count) {
  GraphSession* found = find<GraphSession>(graph);
  GraphSession* other = find<GraphSession>(count == 0 ? 0 : static_cast<int32_t>(words[0]));
  if (found == nullptr || other == nullptr) return nullptr;
  return described(*found, found->inlined(*other, {words + 1, count - 1}));
}

int32_t lathe_graph_compile(int32_t graph, const char* json, size_t length) {
  const GraphSession* found = find<GraphSession>(graph);
  return found == nullptr ? 0 : to_handle(found->compile(text_of(json, length)));
}

int32_t lathe_graph_take_compiled(int32_t graph, const char* json, size_t length) {
  GraphSession* found = find<GraphSession>(graph);
  return found == nullptr ? 0 : to_handle(found->compile_and_release(text_of(json, length)));
}

int32_t lathe_executable_free(int32_t executable) { return remove<Executable>(executable); }

const uint8_t* lathe_executable_bytes(int32_t executable) {
  Executable* found = find<Executable>(executable);
  return found == nullptr ? nullptr : lathe::api::module_of(*found).data();
}

size_t lathe_executable_size(int32_t executable) {
  Executable* found = find<Executable>(executable);
  return found == nullptr ? 0 : lathe::api::module_of(*found).size();
}

const size_t* lathe_executable_parts(int32_t executable) {
  Executable* found = find<Executable>(executable);
  return found == nullptr ? nullptr : lathe::api::parts_of(*found).data();
}

const char* lathe_executable_metadata(int32_t executable) {
  const Executable* found = find<Executable>(executable);
  return found == nullptr ? nullptr : found->metadata.c_str();
}

const char* lathe_executable_dumps(int32_t executable) {
  const Executable* found = find<Executable>(executable);
  return found == nullptr ? nullptr : found->dumps.c_str();
}

const char* lathe_executable_contractions(int32_t executable) {
  Executable* found = find<Executable>(executable);
  if (found == nullptr) return nullptr;
  if (found->contractions.empty()) {
    found->contractions = lathe::api::contractions(found->compiled);
  }
  return found->contractions.c_str();
}

int32_t lathe_executable_kernel(int32_t executable, const char* json, size_t length) {
  const Executable* found = find<Executable>(executable);
  if (found == nullptr) return 0;
  return to_handle(lathe::api::compile_kernel(*found, text_of(json, length)));
}

const void* lathe_executable_initial(int32_t executable, const int32_t* states, size_t count) {
  Executable* found = find<Executable>(executable);
  if (found == nullptr) return nullptr;
  const auto contents = lathe::api::initial_contents(*found, {states, count});
  if (contents) return *contents;
  last_error() = contents.error().message;
  return nullptr;
}

int32_t lathe_executable_export(int32_t executable, const void* states) {
  const Executable* found = find<Executable>(executable);
  if (found == nullptr) return 0;
  return to_handle(lathe::api::export_executable(*found, static_cast<const std::byte*>(states)));
}

int32_t lathe_live_objects() { return objects().count(); }

}  // extern "C"
