// How models are trained and compiled as JSON, in the form that api/lathe.h describes.
#pragma once

#include <string>
#include <string_view>

#include "lathe/base/result.h"
#include "lathe/compile/compile.h"
#include "lathe/nn/training/training.h"

namespace lathe::api {

struct CompileRequest {
  nn::TrainingOptions training;
  compile::Options options;
  // Nothing is compiled: the executable only knows the initial content of the states.
  bool only_states = false;
};

Result<CompileRequest> parse_request(std::string_view json);
// The part of a request that is the same for every program: "features", "schedules",
// "worthSplitting", "winograd", "verify", "dumps".
Result<compile::Options> parse_compile_options(std::string_view json);
// An error unless `when` is "before:PASS" or "after:PASS" of a pass that exists, or of "*".
Status check_dump(std::string_view when, const compile::Target& target = compile::wasm_target());

// compile::metadata with "trainable" in every state.
std::string metadata(const compile::Executable& executable,
                     const std::vector<nn::Variable>& variables);

// The tables of the core.
std::string describe();

}  // namespace lathe::api
