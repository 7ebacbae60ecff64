// The file in which `tl.tune` remembers schedules, for compilers where no engine measures them.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "lathe/base/result.h"
#include "lathe/compile/compile.h"

namespace lathe::api {

// By target: an engine and its version, the processor, and the features of compile/features.def
// but threads and fast pairs, "V8 13.6 x64 AMD EPYC simd relaxedSimd".
using ScheduleCache = std::map<std::string, lower::cpu::Schedules, std::less<>>;

// {"version": 1, "targets": {"TARGET": [["KEY", {"rows": 4, "columns": 8}], ...]}}
Result<ScheduleCache> parse_schedule_cache(std::string_view json);

// The target with these features whose name contains `part`. Error: there is none, or several.
Result<std::string> find_target(const ScheduleCache& cache, compile::Features features,
                                std::string_view part);

}  // namespace lathe::api
