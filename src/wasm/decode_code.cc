// One loop without recursion: open blocks are a list, and one case for each kind of immediate.
#include "lathe/wasm/decode_code.h"

#include <algorithm>

#include "lathe/base/text.h"

namespace lathe::wasm {
namespace {

class CodeReader {
 public:
  explicit CodeReader(ByteReader& reader) : reader_(reader) {}

  Result<Code> run() {
    std::vector<Opcode> open = {Opcode::block};
    while (!open.empty()) {
      Instruction instruction;
      LATHE_ASSIGN_OR_RETURN(instruction.op, opcode());
      LATHE_TRY(immediate(info(instruction.op).immediate, instruction));
      if (instruction.op == Opcode::end) {
        open.pop_back();
      } else if (instruction.op == Opcode::else_) {
        if (open.back() != Opcode::if_) return reader_.fail("else without if");
        open.back() = Opcode::else_;
      } else if (info(instruction.op).immediate == Immediate::Block) {
        open.push_back(instruction.op);
      }
      code_.instructions.push_back(instruction);
    }
    return std::move(code_);
  }

 private:
  Result<Opcode> opcode() {
    const size_t start = reader_.offset();
    LATHE_ASSIGN_OR_RETURN(const uint8_t first, reader_.byte());
    uint32_t code = first;
    if (first >= 0xfc) {
      LATHE_ASSIGN_OR_RETURN(const uint32_t number, reader_.u32());
      const bool fits = number < 1u << kPrefixShift;
      code = fits ? first << kPrefixShift | number : UINT32_MAX;
    }
    if (find_opcode(code) == nullptr) return reader_.fail("illegal opcode", start);
    return static_cast<Opcode>(code);
  }

  Result<int64_t> block_type() {
    const size_t start = reader_.offset();
    LATHE_ASSIGN_OR_RETURN(const int64_t type, reader_.s33());
    if (type >= 0 || type == kEmptyBlock) return type;
    const bool is_single = type >= -64 && is_val_type(static_cast<uint8_t>(type & 0x7f));
    if (!is_single || reader_.offset() != start + 1) return reader_.fail("malformed block type");
    return type;
  }

  Status labels(Instruction& instruction) {
    LATHE_ASSIGN_OR_RETURN(instruction.second, reader_.count());
    instruction.index = static_cast<uint32_t>(code_.labels.size());
    for (uint64_t i = 0; i <= instruction.second; ++i) {
      LATHE_ASSIGN_OR_RETURN(const uint32_t label, reader_.u32());
      code_.labels.push_back(label);
    }
    return {};
  }

  Status select_types(Instruction& instruction) {
    LATHE_ASSIGN_OR_RETURN(instruction.second, reader_.count());
    instruction.index = static_cast<uint32_t>(code_.types.size());
    for (uint32_t i = 0; i < instruction.second; ++i) {
      LATHE_ASSIGN_OR_RETURN(const ValType type, read_val_type(reader_));
      code_.types.push_back(type);
    }
    return {};
  }

  Status vector(Instruction& instruction) {
    LATHE_ASSIGN_OR_RETURN(const std::span<const uint8_t> bytes, reader_.bytes(16));
    instruction.index = static_cast<uint32_t>(code_.vectors.size());
    V128& vector = code_.vectors.emplace_back();
    std::copy(bytes.begin(), bytes.end(), vector.begin());
    return {};
  }

  // Bit 6 of the flags announces a memory index (core specification 5.4.7).
  Status memory_argument(Instruction& instruction) {
    LATHE_ASSIGN_OR_RETURN(const uint32_t flags, reader_.u32());
    if (flags >= 0x80) return reader_.fail("malformed memop flags");
    instruction.align = flags & 0x3f;
    if ((flags & 0x40) != 0) {
      LATHE_ASSIGN_OR_RETURN(instruction.index, reader_.u32());
    }
    LATHE_ASSIGN_OR_RETURN(instruction.value, reader_.u64());
    return {};
  }

  Status zero() {
    LATHE_ASSIGN_OR_RETURN(const uint8_t byte, reader_.byte());
    if (byte != 0) return reader_.fail("zero byte expected");
    return {};
  }

  Status immediate(Immediate kind, Instruction& instruction) {
    switch (kind) {
      case Immediate::None:
        return {};
      case Immediate::Block: {
        LATHE_ASSIGN_OR_RETURN(instruction.value, block_type());
        return {};
      }
      case Immediate::Label:
      case Immediate::Function:
      case Immediate::Local:
      case Immediate::Global:
      case Immediate::Table:
      case Immediate::Element:
      case Immediate::Data:
      case Immediate::Memory: {
        LATHE_ASSIGN_OR_RETURN(instruction.index, reader_.u32());
        return {};
      }
      case Immediate::TypeTable:
      case Immediate::TableTable:
      case Immediate::ElementTable:
      case Immediate::MemoryMemory:
      case Immediate::DataMemory: {
        LATHE_ASSIGN_OR_RETURN(instruction.index, reader_.u32());
        LATHE_ASSIGN_OR_RETURN(instruction.second, reader_.u32());
        return {};
      }
      case Immediate::LabelTable:
        return labels(instruction);
      case Immediate::SelectTypes:
        return select_types(instruction);
      case Immediate::MemArg:
        return memory_argument(instruction);
      case Immediate::MemArgLane: {
        LATHE_TRY(memory_argument(instruction));
        LATHE_ASSIGN_OR_RETURN(instruction.lane, reader_.byte());
        return {};
      }
      case Immediate::Lane: {
        LATHE_ASSIGN_OR_RETURN(instruction.lane, reader_.byte());
        return {};
      }
      case Immediate::V128:
      case Immediate::Shuffle:
        return vector(instruction);
      case Immediate::RefType: {
        LATHE_ASSIGN_OR_RETURN(const ValType type, read_reference_type(reader_));
        instruction.index = static_cast<uint32_t>(type);
        return {};
      }
      case Immediate::Zero:
        return zero();
      case Immediate::I32:
      case Immediate::I64:
      case Immediate::F32:
      case Immediate::F64:
        return constant(kind, instruction);
    }
    return {};
  }

  Status constant(Immediate kind, Instruction& instruction) {
    if (kind == Immediate::I32) {
      LATHE_ASSIGN_OR_RETURN(const int64_t value, reader_.s32());
      instruction.value = static_cast<uint64_t>(value);
    } else if (kind == Immediate::I64) {
      LATHE_ASSIGN_OR_RETURN(instruction.value, reader_.s64());
    } else {
      LATHE_ASSIGN_OR_RETURN(instruction.value, reader_.fixed(kind == Immediate::F32 ? 4 : 8));
    }
    return {};
  }

  ByteReader& reader_;
  Code code_;
};

}  // namespace

Result<ValType> read_val_type(ByteReader& reader) {
  LATHE_ASSIGN_OR_RETURN(const uint8_t code, reader.byte());
  if (!is_val_type(code)) return reader.fail("malformed value type");
  return static_cast<ValType>(code);
}

Result<ValType> read_reference_type(ByteReader& reader) {
  LATHE_ASSIGN_OR_RETURN(const uint8_t code, reader.byte());
  if (!is_val_type(code) || !is_reference(static_cast<ValType>(code))) {
    return reader.fail("malformed reference type");
  }
  return static_cast<ValType>(code);
}

Result<Code> read_code(ByteReader& reader) { return CodeReader(reader).run(); }

}  // namespace lathe::wasm
