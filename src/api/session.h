// Models and executables, as the C interface makes them. Independent of handles.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lathe/api/model_json.h"
#include "lathe/network/network_json.h"

namespace lathe::api {

struct Model {
  nn::Model network;
  std::string summary;
};

struct Executable {
  compile::Executable compiled;
  // The source of the executable, for exporting it with other contents.
  graph::Program program;
  compile::Features features;
  lower::cpu::Schedules schedules;
  bool winograd = true, timing = false;
  std::string metadata, dumps;
  // Computed on demand, as are the following members.
  std::vector<uint8_t> module;
  std::vector<size_t> parts;
  std::string contractions;
  std::vector<nn::Variable> variables;
  uint64_t seed = 0;
  // Of the states that were requested last.
  std::vector<std::byte> initial;
};

Result<Model> create_model(std::string_view json);
Result<Executable> compile_model(const nn::Model& network, std::string_view json);
// Errors: those of compile_model that are about the layers and how they learn.
Status check_model(const nn::Model& network, std::string_view json);
// The program that compile_model compiles, and members of a JSON object about it: "entries", their
// number, and its notes.
struct ModelProgram {
  graph::Program program;
  std::string description;
};
Result<ModelProgram> model_program(const nn::Model& network, std::string_view json);
// A program without a model, `json` as parse_compile_options reads it. Its states start as zeros.
Result<Executable> compile_program(graph::Program program, std::string_view json);
// The bytes of the complete module.
const std::vector<uint8_t>& module_of(Executable& executable);
// As returned by lathe_executable_parts.
const std::vector<size_t>& parts_of(Executable& executable);
// The first content of these states, one after the other. Errors: there is none of such a number;
// they exceed the memory.
Result<const std::byte*> initial_contents(Executable& executable, std::span<const int32_t> states);
// One contraction of `executable` as a standalone program with another schedule.
Result<Executable> compile_kernel(const Executable& executable, std::string_view json);
// The same entries with initial states from `states` (all states of
// `executable`, one after the other), for one thread.
Result<Executable> export_executable(const Executable& executable, const std::byte* states);

}  // namespace lathe::api
