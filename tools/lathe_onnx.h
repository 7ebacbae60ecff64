// What the verbs of `lathe` do with ONNX models.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lathe.h"
#include "lathe/models/onnx/input_ports.h"

namespace lathe::tool {

// Whether a file looks like an ONNX model: called .onnx, or one by its first bytes.
bool is_onnx(const std::string& path);

// --shape NAME=1,3,224,224, --size NAME=N and --value NAME=N,….
Outcome<onnx::InputBindings> sizes_of_flags(const Arguments& arguments);

Outcome<void> inspect_onnx(const Arguments& arguments);
Outcome<void> compile_onnx(const Arguments& arguments);
Outcome<void> convert_onnx(const Arguments& arguments);

// Flags that only these models have, or have not.
Outcome<void> reject_flags(const Arguments& arguments, std::initializer_list<const char*> flags,
                           const char* what);

}  // namespace lathe::tool
