#include "api/lathe.h"

#include <cstdlib>

#include "api/schedule_json.h"
#include "api/session.h"
#include "base/text.h"
#include "wasm/decode.h"
#include "wasm/print.h"

namespace {

using lathe::Result;
using lathe::api::Executable;
using lathe::api::Model;

struct State {
  lathe::api::Table<Model> models;
  lathe::api::Table<Executable> executables;
  std::string error, wat, description;
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
  if (object == nullptr) state().error = lathe::concat("there is no ", what, " ", handle);
  return object;
}

Model* find_model(int32_t handle) { return find(state().models, handle, "model"); }
Executable* find_executable(int32_t handle) {
  return find(state().executables, handle, "executable");
}

template <class T>
int32_t keep(lathe::api::Table<T>& table, Result<T> object) {
  if (object) return table.add(std::move(*object));
  state().error = object.error().message;
  return 0;
}

}  // namespace

extern "C" {

void* lathe_alloc(size_t size) {
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) state().error = lathe::concat("out of memory: no ", size, " bytes left");
  return memory;
}

void lathe_free(void* memory) { std::free(memory); }

const char* lathe_error() { return state().error.c_str(); }

int32_t lathe_model_create(const char* json, size_t length) {
  return keep(state().models, lathe::api::create_model(text_of(json, length)));
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

void lathe_executable_free(int32_t executable) { state().executables.remove(executable); }

const uint8_t* lathe_executable_bytes(int32_t executable) {
  const Executable* found = find_executable(executable);
  return found == nullptr ? nullptr : found->compiled.module.data();
}

size_t lathe_executable_size(int32_t executable) {
  const Executable* found = find_executable(executable);
  return found == nullptr ? 0 : found->compiled.module.size();
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
    found->contractions = lathe::api::contractions(found->compiled, found->features);
  }
  return found->contractions.c_str();
}

int32_t lathe_executable_kernel(int32_t executable, const char* json, size_t length) {
  const Executable* found = find_executable(executable);
  if (found == nullptr) return 0;
  return keep(state().executables, lathe::api::compile_kernel(*found, text_of(json, length)));
}

const void* lathe_executable_initial(int32_t executable) {
  Executable* found = find_executable(executable);
  if (found == nullptr) return nullptr;
  const auto contents = lathe::api::initial_contents(*found);
  if (contents) return *contents;
  state().error = contents.error().message;
  return nullptr;
}

int32_t lathe_executable_export(int32_t executable, const void* states) {
  const Executable* found = find_executable(executable);
  if (found == nullptr) return 0;
  return keep(state().executables,
              lathe::api::export_executable(*found, static_cast<const std::byte*>(states)));
}

int32_t lathe_live_objects() { return state().models.count() + state().executables.count(); }

const char* lathe_wat(const uint8_t* bytes, size_t length) {
  const auto module = lathe::wasm::decode({bytes, length});
  if (!module) {
    state().error = module.error().message;
    return nullptr;
  }
  state().wat = lathe::wasm::print(*module);
  return state().wat.c_str();
}

const char* lathe_describe() {
  if (state().description.empty()) state().description = lathe::api::describe();
  return state().description.c_str();
}

}  // extern "C"
