// Features come from the table for instructions, and from these rules for everything else.
#include "lathe/wasm/features.h"

namespace lathe::wasm {
namespace {

class Collector {
 public:
  explicit Collector(const Module& module) : module_(module) { features_.add(Feature::mvp); }

  FeatureSet run() {
    const IndexSpaces spaces = index_spaces(module_);
    for (const FuncType& type : module_.types) {
      if (type.results.size() > 1) features_.add(Feature::multi_value);
      for (ValType param : type.params) add_type(param);
      for (ValType result : type.results) add_type(result);
    }
    for (const TableType& table : spaces.tables) add_table(table);
    if (spaces.tables.size() > 1) features_.add(Feature::reference_types);
    for (const Limits& memory : spaces.memories) add_limits(memory);
    if (spaces.memories.size() > 1) features_.add(Feature::multi_memory);
    for (const GlobalType& global : spaces.globals) add_type(global.type);
    add_shared_globals(spaces);
    add_segments();
    for (const Function& function : module_.functions) {
      for (const LocalRun& run : function.locals) add_type(run.type);
      for (const Instruction& instruction : function.code.instructions) add(instruction);
    }
    return features_;
  }

 private:
  void add_type(ValType type) {
    if (type == ValType::v128) features_.add(Feature::simd);
    if (is_reference(type)) features_.add(Feature::reference_types);
  }

  void add_limits(const Limits& limits) {
    if (limits.shared) features_.add(Feature::threads);
    if (limits.is64) features_.add(Feature::memory64);
  }

  void add_table(const TableType& table) {
    add_limits(table.limits);
    if (table.element == ValType::externref) features_.add(Feature::reference_types);
  }

  void add_shared_globals(const IndexSpaces& spaces) {
    for (const Import& import : module_.imports) {
      if (import.kind == ExternalKind::global && import.global.is_mutable) {
        features_.add(Feature::mutable_globals);
      }
    }
    for (const Export& item : module_.exports) {
      if (item.kind == ExternalKind::global && item.index < spaces.globals.size() &&
          spaces.globals[item.index].is_mutable) {
        features_.add(Feature::mutable_globals);
      }
    }
    for (const Global& global : module_.globals) add_constant(global.init);
  }

  void add_segments() {
    if (module_.has_data_count) features_.add(Feature::bulk_memory);
    for (const Data& data : module_.data) {
      if (data.mode != SegmentMode::active) features_.add(Feature::bulk_memory);
      add_constant(data.offset);
    }
    for (const Element& element : module_.elements) {
      if (element.mode != SegmentMode::active) features_.add(Feature::bulk_memory);
      const bool has_references = element.uses_expressions || element.type != ValType::funcref ||
                                  element.mode == SegmentMode::declared;
      if (has_references) features_.add(Feature::reference_types);
      add_constant(element.offset);
      for (const Code& expression : element.expressions) add_constant(expression);
    }
  }

  void add_constant(const Code& code) {
    for (const Instruction& instruction : code.instructions) {
      add(instruction);
      const OpcodeInfo& row = info(instruction.op);
      if (row.feature == Feature::mvp && row.operands().size() == 2) {
        features_.add(Feature::extended_const);
      }
    }
  }

  void add(const Instruction& instruction) {
    const OpcodeInfo& row = info(instruction.op);
    features_.add(row.feature);
    if (row.immediate == Immediate::Block && static_cast<int64_t>(instruction.value) >= 0) {
      features_.add(Feature::multi_value);
    }
  }

  const Module& module_;
  FeatureSet features_;
};

}  // namespace

FeatureSet features_of(const Module& module) { return Collector(module).run(); }

}  // namespace lathe::wasm
