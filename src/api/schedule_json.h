// Schedules as JSON, in the form that api/lathe.h describes.
#pragma once

#include <string>

#include "lathe/compile/tune.h"
#include "lathe/network/json_reader.h"

namespace lathe::api {

using network::ObjectReader;
using network::parse_json;

// {"KEY": {"rows": 4, "columns": 8}, ...}; null reads none.
Status read_schedules(const Json* json, const std::string& path, lower::cpu::Schedules& schedules);

// {"key": "KEY", "schedule": {"rows": 4}}
struct KernelRequest {
  std::string key;
  lower::cpu::Schedule schedule;
};
Result<KernelRequest> parse_kernel_request(std::string_view json);

// Every different contraction of an executable with its schedule and the candidates.
std::string contractions(const compile::Executable& executable);

}  // namespace lathe::api
