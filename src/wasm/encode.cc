// Section by section, in the order the format prescribes.
#include "lathe/wasm/encode.h"

#include "lathe/wasm/encode_code.h"
#include "lathe/wasm/names.h"

namespace lathe::wasm {
namespace {

// Indexed by Section.
constexpr uint8_t kSectionIds[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 10, 11};

void append_limits(Bytes& out, const Limits& limits) {
  out.push_back(
      static_cast<uint8_t>(limits.max.has_value() | limits.shared << 1 | limits.is64 << 2));
  append_uleb128(out, limits.min);
  if (limits.max) append_uleb128(out, *limits.max);
}

void append_types(Bytes& out, const std::vector<ValType>& types) {
  append_uleb128(out, types.size());
  for (ValType type : types) out.push_back(static_cast<uint8_t>(type));
}

void append_table(Bytes& out, const TableType& table) {
  out.push_back(static_cast<uint8_t>(table.element));
  append_limits(out, table.limits);
}

void append_global_type(Bytes& out, const GlobalType& global) {
  out.push_back(static_cast<uint8_t>(global.type));
  out.push_back(global.is_mutable ? 1 : 0);
}

void append_import(Bytes& out, const Import& import) {
  append_name(out, import.module);
  append_name(out, import.name);
  out.push_back(static_cast<uint8_t>(import.kind));
  switch (import.kind) {
    case ExternalKind::function:
      append_uleb128(out, import.type);
      break;
    case ExternalKind::table:
      append_table(out, import.table);
      break;
    case ExternalKind::memory:
      append_limits(out, import.memory);
      break;
    case ExternalKind::global:
      append_global_type(out, import.global);
      break;
  }
}

// The flags of core specification 5.5.12: bit 0 passive or declared, bit 1 explicit index or
// declared, bit 2 expressions.
void append_element(Bytes& out, const Element& element) {
  const bool active = element.mode == SegmentMode::active;
  const bool explicit_table = element.table != 0 || element.type != ValType::funcref;
  const bool bit1 = active ? explicit_table : element.mode == SegmentMode::declared;
  append_uleb128(out, (active ? 0u : 1u) | (bit1 ? 2u : 0u) | (element.uses_expressions ? 4u : 0u));
  if (active && bit1) append_uleb128(out, element.table);
  if (active) append_code(out, element.offset);
  if (!active || bit1) {
    out.push_back(element.uses_expressions ? static_cast<uint8_t>(element.type) : 0);
  }
  append_uleb128(out, element.size());
  for (uint32_t function : element.functions) append_uleb128(out, function);
  for (const Code& expression : element.expressions) append_code(out, expression);
}

// All but the bytes.
void append_data_head(Bytes& out, const Data& data) {
  const bool active = data.mode == SegmentMode::active;
  append_uleb128(out, !active ? 1u : data.memory != 0 ? 2u : 0u);
  if (active && data.memory != 0) append_uleb128(out, data.memory);
  if (active) append_code(out, data.offset);
  append_uleb128(out, data.bytes.size());
}

// Instruction offsets are from the start of the body.
Bytes function_body(const Function& function, std::vector<uint32_t>* offsets) {
  Bytes body;
  append_uleb128(body, function.locals.size());
  for (const LocalRun& run : function.locals) {
    append_uleb128(body, run.count);
    body.push_back(static_cast<uint8_t>(run.type));
  }
  for (const Instruction& instruction : function.code.instructions) {
    if (offsets != nullptr) offsets->push_back(static_cast<uint32_t>(body.size()));
    append_instruction(body, instruction, function.code);
  }
  return body;
}

bool needs_data_count(const Module& module) {
  if (module.has_data_count) return true;
  for (const Function& function : module.functions) {
    for (const Instruction& instruction : function.code.instructions) {
      const Immediate kind = info(instruction.op).immediate;
      if (kind == Immediate::Data || kind == Immediate::DataMemory) return true;
    }
  }
  return false;
}

class Encoder {
 public:
  Encoder(const Module& module, CodeOffsets* offsets) : module_(module), offsets_(offsets) {}

  Encoded run() {
    size_t data_at = 0;
    append_fixed(out_, 0x6d736100, 4);
    append_fixed(out_, 1, 4);
    customs(Section::none);
    for (auto section = Section::type; section <= Section::data;
         section = static_cast<Section>(static_cast<uint8_t>(section) + 1)) {
      Bytes content;
      const bool present = section_content(section, content);
      if (present) append_section(section, content);
      if (section == Section::data) data_at = out_.size();
      if (section == Section::code) relocate_code_offsets(content.size());
      customs(section);
    }
    name_section();
    return {std::move(out_), data_at};
  }

 private:
  template <class Items, class AppendItem>
  static bool items(Bytes& out, const Items& list, AppendItem append_item) {
    append_uleb128(out, list.size());
    for (const auto& item : list) append_item(out, item);
    return !list.empty();
  }

  // False if the section is to be left out.
  bool section_content(Section section, Bytes& out) {
    switch (section) {
      case Section::none:
        return false;
      case Section::type:
        return items(out, module_.types, [](Bytes& to, const FuncType& type) {
          to.push_back(0x60);
          append_types(to, type.params);
          append_types(to, type.results);
        });
      case Section::import:
        return items(out, module_.imports, append_import);
      case Section::function:
        return items(out, module_.functions, [](Bytes& to, const Function& function) {
          append_uleb128(to, function.type);
        });
      case Section::table:
        return items(out, module_.tables, append_table);
      case Section::memory:
        return items(out, module_.memories, append_limits);
      case Section::global:
        return items(out, module_.globals, [](Bytes& to, const Global& global) {
          append_global_type(to, global.type);
          append_code(to, global.init);
        });
      case Section::export_:
        return items(out, module_.exports, [](Bytes& to, const Export& item) {
          append_name(to, item.name);
          to.push_back(static_cast<uint8_t>(item.kind));
          append_uleb128(to, item.index);
        });
      case Section::start:
        if (module_.start) append_uleb128(out, *module_.start);
        return module_.start.has_value();
      case Section::element:
        return items(out, module_.elements, append_element);
      case Section::data_count:
        append_uleb128(out, module_.data.size());
        return needs_data_count(module_);
      case Section::code:
        return items(out, module_.functions, [this](Bytes& to, const Function& function) {
          append_function(to, function);
        });
      case Section::data:
        return false;  // with_data
    }
    return false;
  }

  void append_function(Bytes& out, const Function& function) {
    std::vector<uint32_t>* offsets =
        offsets_ == nullptr ? nullptr : &offsets_->offsets.emplace_back();
    const Bytes body = function_body(function, offsets);
    append_uleb128(out, body.size());
    if (offsets != nullptr) {
      for (uint32_t& offset : *offsets) offset += static_cast<uint32_t>(out.size());
    }
    append_bytes(out, body);
  }

  void append_section(Section section, const Bytes& content) {
    out_.push_back(kSectionIds[static_cast<uint8_t>(section)]);
    append_uleb128(out_, content.size());
    append_bytes(out_, content);
  }

  // Offsets within the last encoded section become offsets in the module.
  void relocate_code_offsets(size_t section_size) {
    if (offsets_ == nullptr) return;
    const auto start = static_cast<uint32_t>(out_.size() - section_size);
    for (std::vector<uint32_t>& function : offsets_->offsets) {
      for (uint32_t& offset : function) offset += start;
    }
  }

  void append_custom(std::string_view name, std::span<const uint8_t> bytes) {
    Bytes content;
    append_name(content, name);
    append_bytes(content, bytes);
    append_section(Section::none, content);
  }

  void customs(Section after) {
    for (const CustomSection& custom : module_.customs) {
      if (custom.after == after) append_custom(custom.name, custom.bytes);
    }
  }

  void name_section() {
    for (const CustomSection& custom : module_.customs) {
      if (custom.name == "name") return;
    }
    if (!module_.names.empty()) append_custom("name", encode_names(module_.names));
  }

  const Module& module_;
  CodeOffsets* offsets_;
  Bytes out_;
};

}  // namespace

std::vector<uint8_t> encode(const Module& module) {
  return with_data(encode_without_data(module), module.data);
}

std::vector<uint8_t> encode(const Module& module, CodeOffsets& offsets) {
  offsets.offsets.clear();
  return with_data(Encoder(module, &offsets).run(), module.data);
}

Encoded encode_without_data(const Module& module) { return Encoder(module, nullptr).run(); }

std::vector<uint8_t> with_data(const Encoded& encoded, std::span<const Data> data) {
  if (data.empty()) return encoded.bytes;
  Bytes count;
  append_uleb128(count, data.size());
  std::vector<Bytes> heads(data.size());
  size_t size = count.size();
  for (size_t i = 0; i < heads.size(); ++i) {
    append_data_head(heads[i], data[i]);
    size += heads[i].size() + data[i].bytes.size();
  }
  constexpr size_t kSectionHead = 16;
  Bytes out;
  out.reserve(encoded.bytes.size() + kSectionHead + size);
  const std::span<const uint8_t> code = encoded.bytes;
  append_bytes(out, code.first(encoded.data_at));
  out.push_back(kSectionIds[static_cast<uint8_t>(Section::data)]);
  append_uleb128(out, size);
  append_bytes(out, count);
  for (size_t i = 0; i < heads.size(); ++i) {
    append_bytes(out, heads[i]);
    append_bytes(out,
                 {reinterpret_cast<const uint8_t*>(data[i].bytes.data()), data[i].bytes.size()});
  }
  append_bytes(out, code.subspan(encoded.data_at));
  return out;
}

}  // namespace lathe::wasm
