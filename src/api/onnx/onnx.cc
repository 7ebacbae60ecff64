#include "lathe/api/onnx/onnx.h"

#include <map>
#include <utility>

#include "lathe/api/error.h"
#include "lathe/api/onnx/json.h"
#include "lathe/base/text.h"
#include "lathe/graph/binary.h"
#include "lathe/import/onnx/trace/trace.h"

namespace {

using lathe::Result;
using lathe::api::last_error;

struct Model {
  lathe::onnx::ModelProto proto;
  std::string text;
};

struct Trace {
  lathe::graph::Encoded graph;
  std::vector<size_t> addresses;
  std::string text;
};

struct Objects {
  std::map<int32_t, Model> models;
  std::map<int32_t, Trace> traces;
  int32_t last = 0;
};

Objects& objects() {
  static Objects the_objects;
  return the_objects;
}

template <class T>
T* find(std::map<int32_t, T>& all, int32_t handle, const char* what) {
  const auto found = all.find(handle);
  if (found != all.end()) return &found->second;
  last_error() = lathe::concat("there is no ", what, ' ', handle);
  return nullptr;
}

Model* model_of(int32_t handle) { return find(objects().models, handle, "ONNX model"); }
Trace* trace_of(int32_t handle) { return find(objects().traces, handle, "trace"); }

template <class T>
int32_t add_object(std::map<int32_t, T>& all, Result<T> object) {
  if (!object) {
    last_error() = object.error().message;
    return 0;
  }
  all.emplace(++objects().last, std::move(*object));
  return objects().last;
}

Result<Model> opened(lathe::SharedBytes file) {
  Model model;
  LATHE_ASSIGN_OR_RETURN(model.proto, lathe::onnx::read_model(std::move(file)));
  LATHE_TRY(lathe::onnx::check_operators(model.proto));
  const auto files = lathe::onnx::external_files(model.proto);
  model.text = lathe::onnx::describe(model.proto, files);
  return model;
}

Result<Trace> traced(const Model& model, std::string_view json, std::span<const std::byte> data) {
  LATHE_ASSIGN_OR_RETURN(const auto request, lathe::onnx::read_request(json, data));
  LATHE_ASSIGN_OR_RETURN(const auto trace,
                         lathe::onnx::trace(model.proto, request.inputs, request.break_values,
                                            {.cache = request.cache,
                                             .new_rows = request.new_rows,
                                             .mask = request.mask,
                                             .weights = request.weights,
                                             .results = request.results}));
  Trace result{.graph = lathe::graph::encode(trace.graph),
               .addresses = {},
               .text = lathe::onnx::describe(trace, request.has_dependencies)};
  const auto address = [](const void* at) { return reinterpret_cast<size_t>(at); };
  const auto& [bytes, constants] = result.graph;
  result.addresses = {address(bytes.data()), bytes.size(), constants.size()};
  const auto add = [&](const lathe::SharedBytes& each) {
    result.addresses.insert(result.addresses.end(), {address(each.data()), each.size()});
  };
  for (const lathe::SharedBytes& each : constants) add(each);
  for (const auto* each : trace.weights) add(each->content.data);
  return result;
}

}  // namespace

int32_t lathe_onnx_open(void* file, size_t size) {
  return add_object(objects().models, opened(lathe::api::adopt_bytes(file, size)));
}

int32_t lathe_onnx_free(int32_t model) {
  return model_of(model) == nullptr ? 0 : static_cast<int32_t>(objects().models.erase(model));
}

const char* lathe_onnx_describe(int32_t model) {
  const Model* found = model_of(model);
  return found == nullptr ? nullptr : found->text.c_str();
}

int32_t lathe_onnx_external(int32_t model, const char* location, size_t length, void* file,
                            size_t size) {
  const lathe::SharedBytes bytes = lathe::api::adopt_bytes(file, size);
  Model* found = model_of(model);
  if (found == nullptr) return 0;
  const auto done = lathe::onnx::add_external_file(found->proto, {location, length}, bytes);
  if (done) return 1;
  last_error() = done.error().message;
  return 0;
}

int32_t lathe_onnx_trace(int32_t model, const char* json, size_t length, const uint8_t* data,
                         size_t size) {
  const Model* found = model_of(model);
  if (found == nullptr) return 0;
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  return add_object(objects().traces, traced(*found, {json, length}, {bytes, size}));
}

const char* lathe_onnx_trace_text(int32_t trace) {
  const Trace* found = trace_of(trace);
  return found == nullptr ? nullptr : found->text.c_str();
}

const size_t* lathe_onnx_graph(int32_t trace) {
  const Trace* found = trace_of(trace);
  return found == nullptr ? nullptr : found->addresses.data();
}

int32_t lathe_onnx_trace_free(int32_t trace) {
  return trace_of(trace) == nullptr ? 0 : static_cast<int32_t>(objects().traces.erase(trace));
}

int32_t lathe_onnx_live_objects() {
  return static_cast<int32_t>(objects().models.size() + objects().traces.size());
}
