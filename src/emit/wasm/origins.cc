#include "emit/wasm/origins.h"

#include <algorithm>
#include <map>

#include "base/text.h"

namespace lathe::emit {

namespace {

using Numbers = std::map<const void*, int>;

void number_statements(const std::vector<loop::Stmt>& body, int& next, Numbers& numbers) {
  for (const loop::Stmt& stmt : body) {
    numbers[&stmt] = next++;
    number_statements(stmt.body, next, numbers);
  }
}

int number_of(const Numbers& numbers, const void* what) {
  const auto found = numbers.find(what);
  return found == numbers.end() ? -1 : found->second;
}

std::string place(size_t offset, int kernel, int statement) {
  return concat('[', offset, ',', kernel, ',', statement, ']');
}

}  // namespace

std::string json(const std::vector<Origin>& origins, const loop::Module& loops,
                 const wasm::Module& module, const wasm::CodeOffsets& offsets) {
  std::string out = "{\"version\":1,\"kernels\":[";
  Numbers numbers;
  int kernels = 0;
  for (const loop::Entry& entry : loops.entries) {
    for (const loop::Kernel& kernel : entry.kernels) {
      append(out, kernels == 0 ? "" : ",", "{\"entry\":");
      append_json(out, entry.name);
      out += ",\"kernel\":";
      append_json(out, kernel.name);
      append(out, ",\"node\":", kernel.origin, ",\"part\":");
      append_json(out, kernel.part);
      out += '}';
      numbers[&kernel] = kernels++;
      int statements = 0;
      number_statements(kernel.body, statements, numbers);
    }
  }
  const auto imported =
      std::ranges::count(module.imports, wasm::ExternalKind::function, &wasm::Import::kind);
  // By function; of several at one instruction the last counts.
  std::vector<std::map<size_t, const Origin*>> marks(offsets.offsets.size());
  for (const Origin& origin : origins) {
    marks[origin.function - static_cast<size_t>(imported)][origin.instruction] = &origin;
  }
  out += "],\"places\":[";
  for (size_t f = 0; f < marks.size(); ++f) {
    append(out, f == 0 ? "" : ",");
    if (!marks[f].contains(0)) out += place(offsets.offsets[f][0], -1, -1);
    for (const auto& [instruction, mark] : marks[f]) {
      append(out, instruction == 0 ? "" : ",",
             place(offsets.offsets[f][instruction], number_of(numbers, mark->kernel),
                   number_of(numbers, mark->statement)));
    }
  }
  return out + "]}";
}

}  // namespace lathe::emit
