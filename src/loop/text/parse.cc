#include "lathe/loop/text/parse.h"

#include <cstring>

#include "lathe/base/text.h"
#include "lathe/loop/text/parser.h"
#include "lathe/loop/text/syntax.h"

namespace lathe::loop {

namespace {

class ModuleParser {
 public:
  explicit ModuleParser(std::string_view text) : reader_(text) {}

  Result<Module> parse() {
    LATHE_TRY(reader_.advance());
    while (!reader_.at_end()) {
      const bool is_buffer = reader_.sees("buffer");
      const bool is_state = reader_.sees("state");
      if (!is_buffer && !is_state) {
        LATHE_TRY(reader_.expect("entry"));
        LATHE_TRY(entry());
        continue;
      }
      LATHE_TRY(reader_.advance());
      if (is_buffer) {
        LATHE_TRY(buffer());
      } else {
        LATHE_TRY(port(module_.states));
      }
    }
    return std::move(module_);
  }

 private:
  Status buffer() {
    LATHE_ASSIGN_OR_RETURN(Buffer buffer, reader_.buffer());
    const auto role = role_of(reader_.token().text);
    if (!role) return reader_.error("expected input, output, state, constant or temporary");
    buffer.role = *role;
    LATHE_TRY(reader_.advance());
    if (buffer.role == BufferRole::Constant) LATHE_TRY(data(buffer));
    const auto id = static_cast<int32_t>(module_.buffers.size());
    if (!names_.try_emplace(buffer.name, id).second) {
      return reader_.error_at_previous(concat("a second buffer named ", buffer.name));
    }
    module_.buffers.push_back(std::move(buffer));
    return {};
  }

  // {1.0, 2.0}
  Status data(Buffer& buffer) {
    LATHE_TRY(reader_.expect("{"));
    std::vector<std::byte> data;
    for (bool first = true; !reader_.sees("}"); first = false) {
      if (!first) LATHE_TRY(reader_.expect(","));
      LATHE_ASSIGN_OR_RETURN(const Number number, reader_.number());
      if (number.dtype != buffer.dtype) {
        return reader_.error_at_previous(
            concat("expected values of type ", scalar::text(buffer.dtype)));
      }
      const size_t at = data.size();
      data.resize(at + scalar::size_of(buffer.dtype));
      scalar::store_element(&data[at], number);
    }
    buffer.data = std::move(data);
    return reader_.advance();
  }

  // "name" [4,5] buffer
  Status port(std::vector<Port>& ports) {
    Port port;
    LATHE_ASSIGN_OR_RETURN(port.name, reader_.quoted());
    LATHE_TRY(reader_.expect("["));
    for (bool first = true; !reader_.sees("]"); first = false) {
      if (!first) LATHE_TRY(reader_.expect(","));
      LATHE_ASSIGN_OR_RETURN(const int64_t size, reader_.count());
      port.shape.push_back(size);
    }
    LATHE_TRY(reader_.advance());
    LATHE_ASSIGN_OR_RETURN(port.buffer, declared_buffer());
    ports.push_back(std::move(port));
    return {};
  }

  Result<int32_t> declared_buffer() {
    LATHE_ASSIGN_OR_RETURN(const std::string name, reader_.name());
    const auto found = names_.find(name);
    if (found == names_.end()) return reader_.error_at_previous(concat("no buffer named ", name));
    return found->second;
  }

  Status entry() {
    Entry entry;
    LATHE_ASSIGN_OR_RETURN(entry.name, reader_.name());
    LATHE_TRY(reader_.expect("{"));
    while (reader_.sees("input") || reader_.sees("output")) {
      const bool is_input = reader_.sees("input");
      LATHE_TRY(reader_.advance());
      LATHE_TRY(port(is_input ? entry.inputs : entry.outputs));
    }
    LATHE_TRY(kernels(entry, -1));
    module_.entries.push_back(std::move(entry));
    return {};
  }

  // Up to the closing brace and past it.
  Status kernels(Entry& entry, int32_t around) {
    while (!reader_.sees("}")) {
      const bool is_repeat = reader_.sees("repeat");
      if (!is_repeat && !reader_.sees("kernel")) {
        return reader_.error("expected kernel or repeat");
      }
      LATHE_TRY(reader_.advance());
      if (is_repeat) {
        Repeat& repeat = entry.repeats.emplace_back();
        repeat.around = around;
        LATHE_ASSIGN_OR_RETURN(repeat.times, reader_.count());
        if (reader_.sees("while")) {
          LATHE_TRY(reader_.advance());
          LATHE_ASSIGN_OR_RETURN(repeat.condition, declared_buffer());
        }
        LATHE_TRY(reader_.expect("{"));
        LATHE_TRY(kernels(entry, static_cast<int32_t>(entry.repeats.size()) - 1));
        continue;
      }
      LATHE_ASSIGN_OR_RETURN(Kernel kernel, parse_kernel(reader_, module_, names_));
      kernel.repeat = around;
      entry.kernels.push_back(std::move(kernel));
    }
    return reader_.advance();
  }

  TokenReader reader_;
  Module module_;
  BufferNames names_;
};

}  // namespace

Result<Module> parse(std::string_view text) { return ModuleParser(text).parse(); }

}  // namespace lathe::loop
