// Section by section; order, sizes and counts are checked here, meaning is left to the validator.
#include "lathe/wasm/decode.h"

#include "lathe/base/text.h"
#include "lathe/wasm/decode_code.h"
#include "lathe/wasm/names.h"

namespace lathe::wasm {
namespace {

// The limits of V8.
constexpr uint32_t kMaxFunctions = 1000000;
constexpr uint32_t kMaxParameters = 1000;  // and results

// Indexed by the id of the binary format; id 0 is a custom section.
constexpr Section kSections[] = {
    Section::none,   Section::type,   Section::import,    Section::function, Section::table,
    Section::memory, Section::global, Section::export_,   Section::start,    Section::element,
    Section::code,   Section::data,   Section::data_count};

Result<std::vector<ValType>> read_types(ByteReader& reader) {
  std::vector<ValType> types;
  LATHE_ASSIGN_OR_RETURN(const uint32_t count, reader.count());
  if (count > kMaxParameters) return reader.fail("too many parameters or results");
  types.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    LATHE_ASSIGN_OR_RETURN(const ValType type, read_val_type(reader));
    types.push_back(type);
  }
  return types;
}

Result<FuncType> read_func_type(ByteReader& reader) {
  LATHE_ASSIGN_OR_RETURN(const uint8_t form, reader.byte());
  if (form != 0x60) return reader.fail("malformed function type: 0x60 expected");
  FuncType type;
  LATHE_ASSIGN_OR_RETURN(type.params, read_types(reader));
  LATHE_ASSIGN_OR_RETURN(type.results, read_types(reader));
  return type;
}

Result<Limits> read_limits(ByteReader& reader, bool may_be_shared) {
  LATHE_ASSIGN_OR_RETURN(const uint8_t flags, reader.byte());
  if (flags > 7 || ((flags & 2) != 0 && !may_be_shared)) {
    return reader.fail("malformed limits flags");
  }
  Limits limits;
  limits.shared = (flags & 2) != 0;
  limits.is64 = (flags & 4) != 0;
  const auto read_bound = [&]() -> Result<uint64_t> {
    if (limits.is64) return reader.u64();
    LATHE_ASSIGN_OR_RETURN(const uint32_t bound, reader.u32());
    return bound;
  };
  LATHE_ASSIGN_OR_RETURN(limits.min, read_bound());
  if ((flags & 1) != 0) {
    LATHE_ASSIGN_OR_RETURN(limits.max, read_bound());
  }
  return limits;
}

Result<TableType> read_table(ByteReader& reader) {
  TableType table;
  LATHE_ASSIGN_OR_RETURN(table.element, read_reference_type(reader));
  LATHE_ASSIGN_OR_RETURN(table.limits, read_limits(reader, false));
  return table;
}

Result<GlobalType> read_global_type(ByteReader& reader) {
  GlobalType type;
  LATHE_ASSIGN_OR_RETURN(type.type, read_val_type(reader));
  LATHE_ASSIGN_OR_RETURN(const uint8_t mutability, reader.byte());
  if (mutability > 1) return reader.fail("malformed mutability");
  type.is_mutable = mutability == 1;
  return type;
}

Result<ExternalKind> read_kind(ByteReader& reader) {
  LATHE_ASSIGN_OR_RETURN(const uint8_t kind, reader.byte());
  if (kind > 3) return reader.fail("malformed import or export kind");
  return static_cast<ExternalKind>(kind);
}

Result<Import> read_import(ByteReader& reader) {
  Import import;
  LATHE_ASSIGN_OR_RETURN(import.module, reader.name());
  LATHE_ASSIGN_OR_RETURN(import.name, reader.name());
  LATHE_ASSIGN_OR_RETURN(import.kind, read_kind(reader));
  switch (import.kind) {
    case ExternalKind::function: {
      LATHE_ASSIGN_OR_RETURN(import.type, reader.u32());
      return import;
    }
    case ExternalKind::table: {
      LATHE_ASSIGN_OR_RETURN(import.table, read_table(reader));
      return import;
    }
    case ExternalKind::memory: {
      LATHE_ASSIGN_OR_RETURN(import.memory, read_limits(reader, true));
      return import;
    }
    case ExternalKind::global: {
      LATHE_ASSIGN_OR_RETURN(import.global, read_global_type(reader));
      return import;
    }
  }
  return import;
}

Result<Global> read_global(ByteReader& reader) {
  Global global;
  LATHE_ASSIGN_OR_RETURN(global.type, read_global_type(reader));
  LATHE_ASSIGN_OR_RETURN(global.init, read_code(reader));
  return global;
}

Result<Export> read_export(ByteReader& reader) {
  Export item;
  LATHE_ASSIGN_OR_RETURN(item.name, reader.name());
  LATHE_ASSIGN_OR_RETURN(item.kind, read_kind(reader));
  LATHE_ASSIGN_OR_RETURN(item.index, reader.u32());
  return item;
}

Status read_element_items(ByteReader& reader, Element& element) {
  LATHE_ASSIGN_OR_RETURN(const uint32_t count, reader.count());
  for (uint32_t i = 0; i < count; ++i) {
    if (element.uses_expressions) {
      LATHE_ASSIGN_OR_RETURN(Code expression, read_code(reader));
      element.expressions.push_back(std::move(expression));
    } else {
      LATHE_ASSIGN_OR_RETURN(const uint32_t function, reader.u32());
      element.functions.push_back(function);
    }
  }
  return {};
}

// The flags are described in core specification 5.5.12.
Result<Element> read_element(ByteReader& reader) {
  Element element;
  LATHE_ASSIGN_OR_RETURN(const uint32_t flags, reader.u32());
  if (flags > 7) return reader.fail("malformed element segment flags");
  const bool active = (flags & 1) == 0;
  const bool bit1 = (flags & 2) != 0;
  element.mode = active ? SegmentMode::active : bit1 ? SegmentMode::declared : SegmentMode::passive;
  element.uses_expressions = (flags & 4) != 0;
  if (active && bit1) {
    LATHE_ASSIGN_OR_RETURN(element.table, reader.u32());
  }
  if (active) {
    LATHE_ASSIGN_OR_RETURN(element.offset, read_code(reader));
  }
  if (!active || bit1) {
    if (element.uses_expressions) {
      LATHE_ASSIGN_OR_RETURN(element.type, read_reference_type(reader));
    } else {
      LATHE_ASSIGN_OR_RETURN(const uint8_t kind, reader.byte());
      if (kind != 0) return reader.fail("malformed element kind");
    }
  }
  LATHE_TRY(read_element_items(reader, element));
  return element;
}

Result<Data> read_data(ByteReader& reader) {
  Data data;
  LATHE_ASSIGN_OR_RETURN(const uint32_t flags, reader.u32());
  if (flags > 2) return reader.fail("malformed data segment flags");
  data.mode = flags == 1 ? SegmentMode::passive : SegmentMode::active;
  if (flags == 2) {
    LATHE_ASSIGN_OR_RETURN(data.memory, reader.u32());
  }
  if (flags != 1) {
    LATHE_ASSIGN_OR_RETURN(data.offset, read_code(reader));
  }
  LATHE_ASSIGN_OR_RETURN(const uint32_t size, reader.u32());
  LATHE_ASSIGN_OR_RETURN(const std::span<const uint8_t> bytes, reader.bytes(size));
  data.bytes = shared(bytes);
  return data;
}

Status read_function_body(ByteReader& section, Function& function) {
  LATHE_ASSIGN_OR_RETURN(const uint32_t size, section.u32());
  LATHE_ASSIGN_OR_RETURN(ByteReader reader, section.sub_reader(size));
  LATHE_ASSIGN_OR_RETURN(const uint32_t runs, reader.count());
  uint64_t total = 0;
  for (uint32_t i = 0; i < runs; ++i) {
    LocalRun run;
    LATHE_ASSIGN_OR_RETURN(run.count, reader.u32());
    LATHE_ASSIGN_OR_RETURN(run.type, read_val_type(reader));
    total += run.count;
    if (total > kMaxLocals) return reader.fail("too many locals");
    if (run.count > 0) function.locals.push_back(run);
  }
  LATHE_ASSIGN_OR_RETURN(function.code, read_code(reader));
  return reader.expect_end();
}

class Decoder {
 public:
  explicit Decoder(std::span<const uint8_t> bytes) : reader_(bytes) {}

  Result<Module> run() {
    LATHE_TRY(header());
    while (!reader_.at_end()) LATHE_TRY(section());
    if (bodies_ != module_.functions.size()) {
      return reader_.fail("function and code section have inconsistent lengths");
    }
    if (data_count_ && *data_count_ != module_.data.size()) {
      return reader_.fail("data count and data section have inconsistent lengths");
    }
    module_.has_data_count = data_count_.has_value();
    return std::move(module_);
  }

 private:
  Status header() {
    LATHE_ASSIGN_OR_RETURN(const uint64_t magic, reader_.fixed(4));
    if (magic != 0x6d736100) return reader_.fail("magic header not detected");
    LATHE_ASSIGN_OR_RETURN(const uint64_t version, reader_.fixed(4));
    if (version != 1) return reader_.fail("unknown binary version");
    return {};
  }

  Status section() {
    LATHE_ASSIGN_OR_RETURN(const uint8_t id, reader_.byte());
    if (id >= std::size(kSections)) return reader_.fail("malformed section id");
    LATHE_ASSIGN_OR_RETURN(const uint32_t size, reader_.u32());
    LATHE_ASSIGN_OR_RETURN(ByteReader content, reader_.sub_reader(size));
    if (id == 0) return custom(content);
    const Section section = kSections[id];
    if (section <= last_) return content.fail("unexpected section: out of order or repeated");
    last_ = section;
    LATHE_TRY(read_section(section, content));
    return content.expect_end();
  }

  template <class Item>
  Status items(ByteReader& reader, std::vector<Item>& out, Result<Item> (*read)(ByteReader&)) {
    LATHE_ASSIGN_OR_RETURN(const uint32_t count, reader.count());
    for (uint32_t i = 0; i < count; ++i) {
      LATHE_ASSIGN_OR_RETURN(Item item, read(reader));
      out.push_back(std::move(item));
    }
    return {};
  }

  Status read_section(Section section, ByteReader& reader) {
    switch (section) {
      case Section::none:
        return {};
      case Section::type:
        return items(reader, module_.types, read_func_type);
      case Section::import:
        return items(reader, module_.imports, read_import);
      case Section::function:
        return function_types(reader);
      case Section::table:
        return items(reader, module_.tables, read_table);
      case Section::memory:
        return items<Limits>(reader, module_.memories,
                             [](ByteReader& from) { return read_limits(from, true); });
      case Section::global:
        return items(reader, module_.globals, read_global);
      case Section::export_:
        return items(reader, module_.exports, read_export);
      case Section::start: {
        LATHE_ASSIGN_OR_RETURN(module_.start, reader.u32());
        return {};
      }
      case Section::element:
        return items(reader, module_.elements, read_element);
      case Section::data_count: {
        LATHE_ASSIGN_OR_RETURN(data_count_, reader.u32());
        return {};
      }
      case Section::code:
        return bodies(reader);
      case Section::data:
        return items(reader, module_.data, read_data);
    }
    return {};
  }

  Status function_types(ByteReader& reader) {
    LATHE_ASSIGN_OR_RETURN(const uint32_t count, reader.count());
    if (count > kMaxFunctions) return reader.fail("too many functions");
    for (uint32_t i = 0; i < count; ++i) {
      LATHE_ASSIGN_OR_RETURN(const uint32_t type, reader.u32());
      module_.functions.emplace_back().type = type;
    }
    return {};
  }

  Status bodies(ByteReader& reader) {
    LATHE_ASSIGN_OR_RETURN(const uint32_t count, reader.count());
    if (count != module_.functions.size()) {
      return reader.fail("function and code section have inconsistent lengths");
    }
    for (bodies_ = 0; bodies_ < count; ++bodies_) {
      Function& function = module_.functions[bodies_];
      LATHE_TRY(read_function_body(reader, function));
      if (!data_count_ && uses_data(function)) return reader.fail("data count section required");
    }
    return {};
  }

  static bool uses_data(const Function& function) {
    for (const Instruction& instruction : function.code.instructions) {
      const Immediate kind = info(instruction.op).immediate;
      if (kind == Immediate::Data || kind == Immediate::DataMemory) return true;
    }
    return false;
  }

  Status custom(ByteReader& reader) {
    CustomSection section;
    LATHE_ASSIGN_OR_RETURN(section.name, reader.name());
    LATHE_ASSIGN_OR_RETURN(const std::span<const uint8_t> bytes, reader.bytes(reader.remaining()));
    if (section.name == "name" && module_.names.empty()) {
      if (std::optional<Names> names = decode_names(bytes)) {
        module_.names = std::move(*names);
        return {};
      }
    }
    section.bytes.assign(bytes.begin(), bytes.end());
    section.after = last_;
    module_.customs.push_back(std::move(section));
    return {};
  }

  ByteReader reader_;
  Module module_;
  Section last_ = Section::none;
  size_t bodies_ = 0;
  std::optional<uint32_t> data_count_;
};

}  // namespace

Result<Module> decode(std::span<const uint8_t> bytes) { return Decoder(bytes).run(); }

}  // namespace lathe::wasm
