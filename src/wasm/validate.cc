// Module-level rules (core specification 3.4, 3.5); the bodies go through FunctionChecker.
#include "lathe/wasm/validate.h"

#include <string_view>
#include <unordered_set>

#include "lathe/base/text.h"
#include "lathe/wasm/features.h"
#include "lathe/wasm/function_checker.h"

namespace lathe::wasm {
namespace {

constexpr uint64_t kMaxPages32 = uint64_t{1} << 16;
constexpr uint64_t kMaxPages64 = uint64_t{1} << 48;

Status check_limits(const Limits& limits, uint64_t maximum, const char* what) {
  if (limits.min > maximum || (limits.max && *limits.max > maximum)) {
    return fail(concat(what, " size must be at most ", maximum));
  }
  if (limits.max && limits.min > *limits.max) {
    return fail(concat(what, " minimum must not be greater than maximum"));
  }
  return {};
}

bool is_constant(Opcode op) {
  switch (op) {
    case Opcode::i32_const:
    case Opcode::i64_const:
    case Opcode::f32_const:
    case Opcode::f64_const:
    case Opcode::v128_const:
    case Opcode::ref_null:
    case Opcode::ref_func:
    case Opcode::global_get:
    case Opcode::i32_add:
    case Opcode::i32_sub:
    case Opcode::i32_mul:
    case Opcode::i64_add:
    case Opcode::i64_sub:
    case Opcode::i64_mul:
    case Opcode::end:
      return true;
    default:  // the table has hundreds more
      return false;
  }
}

class Validator {
 public:
  explicit Validator(const Module& module) : module_(module), spaces_(index_spaces(module)) {}

  Status run() {
    LATHE_TRY(around_bodies());
    return functions(&Validator::body);
  }

  Status run_around_bodies() {
    LATHE_TRY(around_bodies());
    return functions(&Validator::references);
  }

 private:
  Status around_bodies() {
    LATHE_TRY(types_in_range());
    for (const TableType& table : spaces_.tables) {
      LATHE_TRY(check_limits(table.limits, table.limits.is64 ? UINT64_MAX : UINT32_MAX, "table"));
    }
    for (const Limits& memory : spaces_.memories) {
      LATHE_TRY(check_limits(memory, memory.is64 ? kMaxPages64 : kMaxPages32, "memory"));
      if (memory.shared && !memory.max) return fail("shared memory must have maximum");
    }
    LATHE_TRY(globals());
    LATHE_TRY(elements());
    LATHE_TRY(data());
    LATHE_TRY(exports());
    return start();
  }

  Status types_in_range() const {
    for (uint32_t type : spaces_.function_types) {
      if (type >= module_.types.size()) return fail(concat("unknown type ", type));
    }
    return {};
  }

  Status function_in_range(uint32_t index) {
    if (index >= spaces_.function_types.size()) return fail(concat("unknown function ", index));
    return {};
  }

  // Only globals before `visible_globals` exist for a constant expression (core
  // specification 3.5.14).
  Status constant(const Code& code, ValType type, size_t visible_globals) {
    Function body;
    body.code = code;
    FunctionChecker checker(module_, spaces_, body, block_type_of(type));
    for (const Instruction& instruction : code.instructions) {
      if (!is_constant(instruction.op)) return fail("constant expression required");
      if (instruction.op == Opcode::global_get) {
        if (instruction.index >= visible_globals) {
          return fail(concat("unknown global ", instruction.index));
        }
        if (spaces_.globals[instruction.index].is_mutable) {
          return fail("constant expression required: the global is mutable");
        }
      }
      LATHE_TRY(checker.check(instruction));
      if (instruction.op == Opcode::ref_func) declared_.insert(instruction.index);
    }
    if (!checker.done()) return fail("constant expression without end");
    return {};
  }

  Status globals() {
    for (size_t i = 0; i < module_.globals.size(); ++i) {
      const Global& global = module_.globals[i];
      LATHE_TRY(constant(global.init, global.type.type, spaces_.imported_globals + i));
    }
    return {};
  }

  Status elements() {
    for (const Element& element : module_.elements) {
      if (element.mode == SegmentMode::active) {
        if (element.table >= spaces_.tables.size()) {
          return fail(concat("unknown table ", element.table));
        }
        const TableType& table = spaces_.tables[element.table];
        if (table.element != element.type) return fail("type mismatch: element segment and table");
        LATHE_TRY(constant(element.offset, table.limits.address_type(), spaces_.globals.size()));
      }
      for (uint32_t function : element.functions) {
        LATHE_TRY(function_in_range(function));
        declared_.insert(function);
      }
      for (const Code& expression : element.expressions) {
        LATHE_TRY(constant(expression, element.type, spaces_.globals.size()));
      }
    }
    return {};
  }

  Status data() {
    for (const Data& segment : module_.data) {
      if (segment.mode != SegmentMode::active) continue;
      if (segment.memory >= spaces_.memories.size()) {
        return fail(concat("unknown memory ", segment.memory));
      }
      const ValType address = spaces_.memories[segment.memory].address_type();
      LATHE_TRY(constant(segment.offset, address, spaces_.globals.size()));
    }
    return {};
  }

  size_t count_of(ExternalKind kind) const {
    switch (kind) {
      case ExternalKind::function:
        return spaces_.function_types.size();
      case ExternalKind::table:
        return spaces_.tables.size();
      case ExternalKind::memory:
        return spaces_.memories.size();
      case ExternalKind::global:
        return spaces_.globals.size();
    }
    return 0;
  }

  Status exports() {
    std::unordered_set<std::string_view> names;
    for (const Export& item : module_.exports) {
      if (!names.insert(item.name).second) {
        return fail(concat("duplicate export name \"", item.name, '"'));
      }
      if (item.index >= count_of(item.kind)) {
        return fail(
            concat("unknown ", name(item.kind), ' ', item.index, " in export \"", item.name, '"'));
      }
      if (item.kind == ExternalKind::function) declared_.insert(item.index);
    }
    return {};
  }

  Status start() {
    if (!module_.start) return {};
    LATHE_TRY(function_in_range(*module_.start));
    const FuncType& type = module_.types[spaces_.function_types[*module_.start]];
    if (type != FuncType{}) return fail("start function must have no parameters and no results");
    return {};
  }

  static Status check_local_count(const Function& function) {
    uint64_t count = 0;
    for (const LocalRun& run : function.locals) count += run.count;
    if (count > kMaxLocals) return fail(concat(count, " locals, the maximum is ", kMaxLocals));
    return {};
  }

  Status functions(Status (Validator::*check)(const Function&, uint32_t)) {
    for (size_t i = 0; i < module_.functions.size(); ++i) {
      const Function& function = module_.functions[i];
      const auto index = static_cast<uint32_t>(spaces_.imported_functions + i);
      if (Status status = check_local_count(function); !status) {
        return located(status.error(), 0, index);
      }
      LATHE_TRY((this->*check)(function, index));
    }
    return {};
  }

  Status body(const Function& function, uint32_t index) {
    LATHE_TRY(references(function, index));
    FunctionChecker checker(module_, spaces_, function, function.type);
    for (size_t at = 0; at < function.code.instructions.size(); ++at) {
      const Status status = checker.check(function.code.instructions[at]);
      if (!status) return located(status.error(), at, index);
    }
    if (!checker.done()) {
      return located({"the body ends inside a block"}, function.code.instructions.size(), index);
    }
    return {};
  }

  Status references(const Function& function, uint32_t index) {
    for (size_t at = 0; at < function.code.instructions.size(); ++at) {
      const Instruction& instruction = function.code.instructions[at];
      if (instruction.op == Opcode::ref_func && !declared_.contains(instruction.index)) {
        const Error error{concat("undeclared function reference ", instruction.index)};
        return located(error, at, index);
      }
    }
    return {};
  }

  std::unexpected<Error> located(const Error& error, size_t instruction, uint32_t function) const {
    std::string label = concat("function ", function);
    const auto found = module_.names.functions.find(function);
    if (found != module_.names.functions.end()) label = concat('"', found->second, '"');
    return fail(concat(error.message, " (instruction ", instruction, " of ", label, ')'));
  }

  const Module& module_;
  IndexSpaces spaces_;
  // Functions that occur outside the bodies, which ref.func may reference (core
  // specification 3.5.14).
  std::unordered_set<uint32_t> declared_;
};

}  // namespace

Status validate(const Module& module, FeatureSet allowed) {
  LATHE_TRY(Validator(module).run());
  if (allowed == FeatureSet::all()) return {};
  const FeatureSet used = features_of(module);
  for (Feature feature : all_features()) {
    if (used.has(feature) && !allowed.has(feature)) {
      return fail(concat("the module uses ", name(feature), ", which is not allowed"));
    }
  }
  return {};
}

Status validate_around_bodies(const Module& module) {
  return Validator(module).run_around_bodies();
}

}  // namespace lathe::wasm
