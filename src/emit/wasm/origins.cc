#include "lathe/emit/wasm/origins.h"

#include "lathe/base/json_writer.h"

namespace lathe::emit_wasm {

namespace {

// The number of a statement in the order they are printed; `next` is that of the first one.
int number_of(const std::vector<loop::Stmt>& body, const loop::Stmt* target, int& next) {
  for (const loop::Stmt& stmt : body) {
    const int number = next++;
    if (&stmt == target) return number;
    if (const int inner = number_of(stmt.body, target, next); inner >= 0) return inner;
  }
  return -1;
}

int number_of(const loop::Module& loops, const loop::Kernel* target) {
  int number = 0;
  for (const loop::Entry& entry : loops.entries) {
    for (const loop::Kernel& kernel : entry.kernels) {
      if (&kernel == target) return number;
      ++number;
    }
  }
  return -1;
}

uint32_t imported_functions(const wasm::Module& module) {
  uint32_t count = 0;
  for (const wasm::Import& import : module.imports) {
    count += import.kind == wasm::ExternalKind::function ? 1 : 0;
  }
  return count;
}

}  // namespace

std::string json(const std::vector<Origin>& origins, const loop::Module& loops,
                 const wasm::Module& module, const wasm::CodeOffsets& offsets) {
  JsonWriter json;
  json.begin_object().member("version", 1).key("kernels").begin_array();
  for (const loop::Entry& entry : loops.entries) {
    for (const loop::Kernel& kernel : entry.kernels) {
      json.begin_object().member("entry", entry.name).member("kernel", kernel.name);
      json.member("node", kernel.origin).member("part", kernel.part).end_object();
    }
  }
  json.end_array().key("places").begin_array();
  const auto append_location = [&](uint32_t offset, int kernel, int statement) {
    json.begin_array().value(offset).value(kernel).value(statement).end_array();
  };
  const uint32_t imported = imported_functions(module);
  for (size_t f = 0; f < offsets.offsets.size(); ++f) {
    const std::vector<uint32_t>& at = offsets.offsets[f];
    // Of a function in the order of its instructions; of several at one of them the last counts.
    const Origin* last = nullptr;
    const auto flush = [&] {
      int next = 0;
      if (last == nullptr) return;
      append_location(at[last->instruction], number_of(loops, last->kernel),
                      number_of(last->kernel->body, last->statement, next));
    };
    for (const Origin& origin : origins) {
      if (origin.function - imported != f) continue;
      if (last == nullptr && origin.instruction > 0) append_location(at[0], -1, -1);
      if (last != nullptr && last->instruction != origin.instruction) flush();
      last = &origin;
    }
    last == nullptr ? append_location(at[0], -1, -1) : flush();
  }
  return json.end_array().end_object().release();
}

}  // namespace lathe::emit_wasm
