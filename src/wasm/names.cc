// Subsections of the name section: module (0), functions (1), locals (2), globals (7).
#include "lathe/wasm/names.h"

#include "lathe/wasm/byte_reader.h"
#include "lathe/wasm/byte_writer.h"

namespace lathe::wasm {
namespace {

using NameMap = std::map<uint32_t, std::string>;
enum Subsection : uint8_t { kModule = 0, kFunctions = 1, kLocals = 2, kGlobals = 7 };

void append_map(Bytes& out, const NameMap& names) {
  append_uleb128(out, names.size());
  for (const auto& [index, name] : names) {
    append_uleb128(out, index);
    append_name(out, name);
  }
}

void append_subsection(Bytes& out, Subsection id, const Bytes& content) {
  out.push_back(id);
  append_uleb128(out, content.size());
  append_bytes(out, content);
}

Result<NameMap> read_map(ByteReader& reader) {
  NameMap names;
  LATHE_ASSIGN_OR_RETURN(const uint32_t count, reader.u32());
  for (uint32_t i = 0; i < count; ++i) {
    LATHE_ASSIGN_OR_RETURN(const uint32_t index, reader.u32());
    LATHE_ASSIGN_OR_RETURN(names[index], reader.name());
  }
  return names;
}

Status read_subsection(ByteReader& reader, uint8_t id, Names& names) {
  switch (id) {
    case kModule: {
      LATHE_ASSIGN_OR_RETURN(names.module, reader.name());
      return {};
    }
    case kFunctions: {
      LATHE_ASSIGN_OR_RETURN(names.functions, read_map(reader));
      return {};
    }
    case kLocals: {
      LATHE_ASSIGN_OR_RETURN(const uint32_t count, reader.u32());
      for (uint32_t i = 0; i < count; ++i) {
        LATHE_ASSIGN_OR_RETURN(const uint32_t function, reader.u32());
        LATHE_ASSIGN_OR_RETURN(names.locals[function], read_map(reader));
      }
      return {};
    }
    case kGlobals: {
      LATHE_ASSIGN_OR_RETURN(names.globals, read_map(reader));
      return {};
    }
    default:
      return reader.fail("unknown name subsection");
  }
}

Result<Names> read_names(ByteReader& reader) {
  Names names;
  while (!reader.at_end()) {
    LATHE_ASSIGN_OR_RETURN(const uint8_t id, reader.byte());
    LATHE_ASSIGN_OR_RETURN(const uint32_t size, reader.u32());
    LATHE_ASSIGN_OR_RETURN(ByteReader content, reader.sub_reader(size));
    LATHE_TRY(read_subsection(content, id, names));
    LATHE_TRY(content.expect_end());
  }
  return names;
}

}  // namespace

std::vector<uint8_t> encode_names(const Names& names) {
  Bytes out;
  if (names.module) {
    Bytes content;
    append_name(content, *names.module);
    append_subsection(out, kModule, content);
  }
  const auto append_named = [&](Subsection id, const NameMap& map) {
    if (map.empty()) return;
    Bytes content;
    append_map(content, map);
    append_subsection(out, id, content);
  };
  append_named(kFunctions, names.functions);
  if (!names.locals.empty()) {
    Bytes content;
    append_uleb128(content, names.locals.size());
    for (const auto& [function, locals] : names.locals) {
      append_uleb128(content, function);
      append_map(content, locals);
    }
    append_subsection(out, kLocals, content);
  }
  append_named(kGlobals, names.globals);
  return out;
}

std::optional<Names> decode_names(std::span<const uint8_t> bytes) {
  ByteReader reader(bytes);
  Result<Names> names = read_names(reader);
  if (!names || encode_names(*names) != std::vector<uint8_t>(bytes.begin(), bytes.end())) {
    return std::nullopt;
  }
  return std::move(*names);
}

}  // namespace lathe::wasm
