// Fields in the order of the sections, one instruction on each line.
#include "lathe/wasm/print.h"

#include <algorithm>

#include "lathe/base/text.h"
#include "lathe/wasm/decode.h"
#include "lathe/wasm/print_code.h"

namespace lathe::wasm {
namespace {

// Deeper blocks are not indented further, so that text stays linear in the size of the module.
constexpr size_t kMaxIndent = 40;
// The limit of the printed size: an indented instruction of one byte prints as about a hundred.
constexpr size_t kTextPerByte = 256;
constexpr size_t kLeastLimit = 1 << 20;

class Printer {
 public:
  // Stops shortly after `limit` bytes.
  explicit Printer(const Module& module, size_t limit = SIZE_MAX)
      : module_(module), spaces_(index_spaces(module)), limit_(limit) {
    identifiers_.functions = make_identifiers(module.names.functions);
    identifiers_.globals = make_identifiers(module.names.globals);
  }

  std::string run() {
    out_ = "(module";
    if (module_.names.module) {
      const auto name = make_identifiers({{0, *module_.names.module}});
      if (!name.empty()) append(out_, ' ', name.at(0));
    }
    types();
    imports();
    functions();
    tables();
    memories();
    globals();
    exports();
    if (module_.start) field("start ", index_text(identifiers_.functions, *module_.start), ")");
    elements();
    data();
    for (const CustomSection& custom : module_.customs) {
      append(out_, "\n  ;; custom section ", quoted(custom.name), ", ", custom.bytes.size(),
             " bytes");
    }
    out_ += module_.customs.empty() ? ")\n" : "\n)\n";
    return std::move(out_);
  }

 private:
  bool is_full() const { return out_.size() > limit_; }

  template <class... Parts>
  void field(const Parts&... parts) {
    append(out_, "\n  (", parts...);
  }

  static std::string number(size_t index) { return concat("(;", index, ";)"); }

  // "$name (;3;)" or "(;3;)"
  static std::string label(const std::map<uint32_t, std::string>& identifiers, uint32_t index) {
    const auto found = identifiers.find(index);
    return found == identifiers.end() ? number(index) : concat(found->second, ' ', number(index));
  }

  static std::string limits_text(const Limits& limits) {
    std::string text = limits.is64 ? " i64" : "";
    append(text, ' ', limits.min);
    if (limits.max) append(text, ' ', *limits.max);
    if (limits.shared) text += " shared";
    return text;
  }

  static std::string table_text(const TableType& table) {
    return concat(limits_text(table.limits), ' ', name(table.element));
  }

  static std::string global_text(const GlobalType& global) {
    if (!global.is_mutable) return concat(' ', name(global.type));
    return concat(" (mut ", name(global.type), ')');
  }

  // The instructions on one line, without the closing `end`.
  std::string expression(const Code& code) const {
    std::string text;
    for (size_t i = 0; i + 1 < code.instructions.size() && text.size() <= limit_; ++i) {
      if (i > 0) text += ' ';
      append_instruction_text(text, code.instructions[i], code, module_.types, identifiers_);
    }
    return text;
  }

  void types() {
    for (size_t i = 0; i < module_.types.size(); ++i) {
      const FuncType& type = module_.types[i];
      field("type ", number(i), " (func", signature_text(type.params, type.results), "))");
    }
  }

  void imports() {
    IndexSpaces before;
    for (const Import& import : module_.imports) {
      field("import ", quoted(import.module), ' ', quoted(import.name), " (", name(import.kind),
            ' ');
      switch (import.kind) {
        case ExternalKind::function:
          append(out_, label(identifiers_.functions, before.imported_functions), " (type ",
                 import.type, ')');
          break;
        case ExternalKind::table:
          append(out_, number(before.tables.size()), table_text(import.table));
          break;
        case ExternalKind::memory:
          append(out_, number(before.memories.size()), limits_text(import.memory));
          break;
        case ExternalKind::global:
          append(out_, label(identifiers_.globals, before.imported_globals),
                 global_text(import.global));
          break;
      }
      before.add(import);
      out_ += "))";
    }
  }

  // Parameters or locals; a named one needs separate parentheses.
  void typed_locals(const char* word, uint32_t first, std::span<const ValType> types) {
    bool is_open = false;
    for (size_t i = 0; i < types.size() && !is_full(); ++i) {
      const auto found = identifiers_.locals.find(first + static_cast<uint32_t>(i));
      const bool is_named = found != identifiers_.locals.end();
      if (is_open && is_named) out_ += ')';
      if (!is_open || is_named) append(out_, " (", word);
      if (is_named) append(out_, ' ', found->second);
      append(out_, ' ', name(types[i]));
      if (is_named) out_ += ')';
      is_open = !is_named;
    }
    if (is_open) out_ += ')';
  }

  void functions() {
    for (size_t i = 0; i < module_.functions.size() && !is_full(); ++i) {
      const Function& function = module_.functions[i];
      const auto index = static_cast<uint32_t>(spaces_.imported_functions + i);
      const auto names = module_.names.locals.find(index);
      identifiers_.locals.clear();
      if (names != module_.names.locals.end()) {
        identifiers_.locals = make_identifiers(names->second);
      }
      field("func ", label(identifiers_.functions, index), " (type ", function.type, ')');
      uint32_t param_count = 0;
      if (function.type < module_.types.size()) {
        const FuncType& type = module_.types[function.type];
        param_count = static_cast<uint32_t>(type.params.size());
        typed_locals("param", 0, type.params);
        out_ += signature_text({}, type.results);
      }
      locals(function, param_count);
      body(function.code);
      out_ += ')';
    }
  }

  void locals(const Function& function, uint32_t first) {
    std::vector<ValType> types;
    for (const LocalRun& run : function.locals) types.insert(types.end(), run.count, run.type);
    if (types.empty()) return;
    out_ += "\n   ";
    typed_locals("local", first, types);
  }

  void body(const Code& code) {
    size_t depth = 0;
    for (size_t i = 0; i + 1 < code.instructions.size() && !is_full(); ++i) {
      const Instruction& instruction = code.instructions[i];
      const bool closes = instruction.op == Opcode::end || instruction.op == Opcode::else_;
      if (closes && depth > 0) --depth;
      append(out_, '\n', std::string(4 + 2 * std::min(depth, kMaxIndent), ' '));
      append_instruction_text(out_, instruction, code, module_.types, identifiers_);
      const bool is_block = info(instruction.op).immediate == Immediate::Block;
      if (is_block || instruction.op == Opcode::else_) ++depth;
      if (is_block) append(out_, "  ;; label = @", depth);
      if (info(instruction.op).immediate == Immediate::Label && instruction.index <= depth) {
        append(out_, " (;@", depth - instruction.index, ";)");
      }
    }
  }

  void tables() {
    const size_t imported = spaces_.tables.size() - module_.tables.size();
    for (size_t i = 0; i < module_.tables.size(); ++i) {
      field("table ", number(imported + i), table_text(module_.tables[i]), ')');
    }
  }

  void memories() {
    const size_t imported = spaces_.memories.size() - module_.memories.size();
    for (size_t i = 0; i < module_.memories.size(); ++i) {
      field("memory ", number(imported + i), limits_text(module_.memories[i]), ')');
    }
  }

  void globals() {
    for (size_t i = 0; i < module_.globals.size() && !is_full(); ++i) {
      const Global& global = module_.globals[i];
      const auto index = static_cast<uint32_t>(spaces_.imported_globals + i);
      field("global ", label(identifiers_.globals, index), global_text(global.type), ' ',
            expression(global.init), ')');
    }
  }

  void exports() {
    for (const Export& item : module_.exports) {
      if (is_full()) return;
      std::string index = concat(item.index);
      if (item.kind == ExternalKind::function) {
        index = index_text(identifiers_.functions, item.index);
      } else if (item.kind == ExternalKind::global) {
        index = index_text(identifiers_.globals, item.index);
      }
      field("export ", quoted(item.name), " (", name(item.kind), ' ', index, "))");
    }
  }

  void elements() {
    for (size_t i = 0; i < module_.elements.size(); ++i) {
      const Element& element = module_.elements[i];
      if (is_full()) return;
      field("elem ", number(i));
      if (element.mode == SegmentMode::declared) out_ += " declare";
      if (element.mode == SegmentMode::active) {
        if (element.table != 0) append(out_, " (table ", element.table, ')');
        append(out_, " (offset ", expression(element.offset), ')');
      }
      out_ += ' ';
      if (element.uses_expressions) {
        out_ += name(element.type);
      } else {
        out_ += "func";
      }
      for (uint32_t function : element.functions) {
        if (is_full()) return;
        append(out_, ' ', index_text(identifiers_.functions, function));
      }
      for (const Code& item : element.expressions) {
        if (is_full()) return;
        append(out_, " (item ", expression(item), ')');
      }
      out_ += ')';
    }
  }

  void data() {
    for (size_t i = 0; i < module_.data.size(); ++i) {
      const Data& data = module_.data[i];
      if (is_full()) return;
      field("data ", number(i));
      if (data.mode == SegmentMode::active) {
        if (data.memory != 0) append(out_, " (memory ", data.memory, ')');
        append(out_, " (offset ", expression(data.offset), ')');
      }
      append(out_, ' ',
             quoted({reinterpret_cast<const char*>(data.bytes.data()), data.bytes.size()}), ')');
    }
  }

  const Module& module_;
  IndexSpaces spaces_;
  const size_t limit_;
  Identifiers identifiers_;
  std::string out_;
};

}  // namespace

std::string print(const Module& module) { return Printer(module).run(); }

Result<std::string> print(std::span<const uint8_t> bytes) {
  LATHE_ASSIGN_OR_RETURN(const Module module, decode(bytes));
  const size_t limit = std::max(kLeastLimit, kTextPerByte * bytes.size());
  std::string text = Printer(module, limit).run();
  if (text.size() <= limit) return text;
  return fail(concat("the text of the module of ", bytes.size(), " bytes is longer than ", limit,
                     " bytes: it declares locals, or repeats names and types, out of proportion"));
}

}  // namespace lathe::wasm
