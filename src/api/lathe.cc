#include "api/lathe.h"

#include "api/error.h"
#include "api/graph_session.h"
#include "api/host_layer.h"
#include "api/schedule_json.h"
#include "api/session.h"
#include "base/text.h"

namespace {

using lathe::Result;
using lathe::Status;
using lathe::api::Executable;
using lathe::api::graph_sessions;
using lathe::api::GraphSession;
using lathe::api::last_error;
using lathe::api::Model;

struct State {
  lathe::api::Table<Model> models;
  lathe::api::Table<Executable> executables;
  std::string gradients, type;
  char* (*layer_host)(const char* question, size_t length) = nullptr;
};

State& state() {
  static State the_state;
  return the_state;
}

std::string_view text_of(const char* text, size_t length) {
  return text == nullptr ? std::string_view() : std::string_view(text, length);
}

// The object of a handle, or null with the reason in the error.
template <class T>
T* find(lathe::api::Table<T>& table, int32_t handle, std::string_view what) {
  T* object = table.find(handle);
  if (object == nullptr) last_error() = lathe::concat("there is no ", what, " ", handle);
  return object;
}

Model* find_model(int32_t handle) { return find(state().models, handle, "model"); }
GraphSession* find_graph(int32_t handle) { return find(graph_sessions(), handle, "graph"); }
Executable* find_executable(int32_t handle) {
  return find(state().executables, handle, "executable");
}

template <class T>
int32_t keep(lathe::api::Table<T>& table, Result<T> object) {
  if (object) return table.add(std::move(*object));
  last_error() = object.error().message;
  return 0;
}

int32_t number(Result<int32_t> value) {
  if (value) return *value;
  last_error() = value.error().message;
  return 0;
}

int32_t done(Status status) {
  if (status) return 1;
  last_error() = status.error().message;
  return 0;
}

const char* kept_text(std::string& place, Result<std::string> text) {
  if (!text) {
    last_error() = text.error().message;
    return nullptr;
  }
  place = std::move(*text);
  return place.c_str();
}

Result<std::string> ask_layer_host(std::string_view question) {
  char* answer = state().layer_host(question.data(), question.size());
  if (answer == nullptr) return lathe::fail("the layer's host gave no answer");
  std::string text = answer;
  lathe_free(answer);
  return text;
}

}  // namespace

extern "C" {

int32_t lathe_model_create(const char* json, size_t length) {
  return keep(state().models, lathe::api::create_model(text_of(json, length)));
}

void lathe_use_layer_host(char* (*host)(const char* question, size_t length)) {
  state().layer_host = host;
  lathe::api::layer_host() = host == nullptr ? nullptr : ask_layer_host;
}

void lathe_model_free(int32_t model) { state().models.remove(model); }

const char* lathe_model_summary(int32_t model) {
  const Model* found = find_model(model);
  return found == nullptr ? nullptr : found->summary.c_str();
}

int32_t lathe_model_compile(int32_t model, const char* json, size_t length) {
  const Model* found = find_model(model);
  if (found == nullptr) return 0;
  return keep(state().executables,
              lathe::api::compile_model(found->network, text_of(json, length)));
}

int32_t lathe_graph_create() { return graph_sessions().add(GraphSession()); }

void lathe_graph_free(int32_t graph) { graph_sessions().remove(graph); }

int32_t lathe_graph_entry(int32_t graph, const char* name, size_t length) {
  GraphSession* found = find_graph(graph);
  return found == nullptr ? 0 : done(found->begin_entry(text_of(name, length)));
}

int32_t lathe_graph_input(int32_t graph, const char* json, size_t length) {
  GraphSession* found = find_graph(graph);
  return found == nullptr ? 0 : number(found->input(text_of(json, length)));
}

int32_t lathe_graph_state(int32_t graph, const char* json, size_t length) {
  GraphSession* found = find_graph(graph);
  return found == nullptr ? 0 : number(found->state(text_of(json, length)));
}

int32_t lathe_graph_constant(int32_t graph, const char* json, size_t length, void* data,
                             size_t size) {
  lathe::SharedBytes bytes(
      {static_cast<const std::byte*>(data), [data](auto*) { lathe_free(data); }},
      data == nullptr ? 0 : size);
  GraphSession* found = find_graph(graph);
  if (found == nullptr) return 0;
  return number(found->constant(text_of(json, length), std::move(bytes)));
}

int32_t lathe_graph_operation(int32_t graph, const char* json, size_t length) {
  GraphSession* found = find_graph(graph);
  return found == nullptr ? 0 : number(found->operation(text_of(json, length)));
}

const char* lathe_graph_gradients(int32_t graph, const char* json, size_t length) {
  GraphSession* found = find_graph(graph);
  if (found == nullptr) return nullptr;
  return kept_text(state().gradients, found->gradients(text_of(json, length)));
}

const char* lathe_graph_type(int32_t graph, int32_t value) {
  GraphSession* found = find_graph(graph);
  return found == nullptr ? nullptr : kept_text(state().type, found->type(value));
}

int32_t lathe_graph_output(int32_t graph, const char* name, size_t length, int32_t value) {
  GraphSession* found = find_graph(graph);
  return found == nullptr ? 0 : done(found->output(text_of(name, length), value));
}

int32_t lathe_graph_update(int32_t graph, int32_t state, int32_t value) {
  GraphSession* found = find_graph(graph);
  return found == nullptr ? 0 : done(found->update(state, value));
}

int32_t lathe_graph_compile(int32_t graph, const char* json, size_t length) {
  const GraphSession* found = find_graph(graph);
  return found == nullptr ? 0 : keep(state().executables, found->compile(text_of(json, length)));
}

void lathe_executable_free(int32_t executable) { state().executables.remove(executable); }

const uint8_t* lathe_executable_bytes(int32_t executable) {
  Executable* found = find_executable(executable);
  return found == nullptr ? nullptr : lathe::api::module_of(*found).data();
}

size_t lathe_executable_size(int32_t executable) {
  Executable* found = find_executable(executable);
  return found == nullptr ? 0 : lathe::api::module_of(*found).size();
}

const size_t* lathe_executable_parts(int32_t executable) {
  Executable* found = find_executable(executable);
  return found == nullptr ? nullptr : lathe::api::parts_of(*found).data();
}

const char* lathe_executable_metadata(int32_t executable) {
  const Executable* found = find_executable(executable);
  return found == nullptr ? nullptr : found->metadata.c_str();
}

const char* lathe_executable_dumps(int32_t executable) {
  const Executable* found = find_executable(executable);
  return found == nullptr ? nullptr : found->dumps.c_str();
}

const char* lathe_executable_contractions(int32_t executable) {
  Executable* found = find_executable(executable);
  if (found == nullptr) return nullptr;
  if (found->contractions.empty()) {
    found->contractions = lathe::api::contractions(found->compiled);
  }
  return found->contractions.c_str();
}

int32_t lathe_executable_kernel(int32_t executable, const char* json, size_t length) {
  const Executable* found = find_executable(executable);
  if (found == nullptr) return 0;
  return keep(state().executables, lathe::api::compile_kernel(*found, text_of(json, length)));
}

const void* lathe_executable_initial(int32_t executable, const int32_t* states, size_t count) {
  Executable* found = find_executable(executable);
  if (found == nullptr) return nullptr;
  const auto contents = lathe::api::initial_contents(*found, {states, count});
  if (contents) return *contents;
  last_error() = contents.error().message;
  return nullptr;
}

int32_t lathe_executable_export(int32_t executable, const void* states) {
  const Executable* found = find_executable(executable);
  if (found == nullptr) return 0;
  return keep(state().executables,
              lathe::api::export_executable(*found, static_cast<const std::byte*>(states)));
}

int32_t lathe_live_objects() {
  return state().models.count() + graph_sessions().count() + state().executables.count();
}

}  // extern "C"
