#include "lathe/api/schedule_json.h"

#include <map>

#include "lathe/base/text.h"

namespace lathe::api {
namespace {

Status read_schedule(const Json& json, const std::string& path, lower::cpu::Schedule& schedule) {
  ObjectReader reader(json, path);
  for (const lower::cpu::ScheduleField& each : lower::cpu::kScheduleFields) {
    int64_t value = schedule.*each.field;
    reader(each.name, value);
    schedule.*each.field = static_cast<int32_t>(value);
  }
  return reader.finish();
}

std::string json_of(const lower::cpu::Schedule& schedule) {
  std::string out;
  for (const lower::cpu::ScheduleField& each : lower::cpu::kScheduleFields) {
    if (schedule.*each.field == 0) continue;
    append(out, out.empty() ? "" : ",", '"', each.name, "\":", schedule.*each.field);
  }
  return concat('{', out, '}');
}

}  // namespace

Status read_schedules(const Json* json, const std::string& path, lower::cpu::Schedules& schedules) {
  if (json == nullptr) return {};
  if (!json->is_object()) return fail(concat(path, ": must be an object"));
  for (size_t i = 0; i < json->keys().size(); ++i) {
    const std::string& key = json->keys()[i];
    LATHE_TRY(read_schedule(json->values()[i], concat(path, '.', key), schedules[key]));
  }
  return {};
}

Result<KernelRequest> parse_kernel_request(std::string_view text) {
  LATHE_ASSIGN_OR_RETURN(const Json json, parse_json(text));
  ObjectReader reader(json, "");
  KernelRequest request;
  reader.require("key");
  reader("key", request.key);
  const Json* schedule = reader.find("schedule");
  LATHE_TRY(reader.finish());
  if (schedule != nullptr) LATHE_TRY(read_schedule(*schedule, "schedule", request.schedule));
  return request;
}

std::string contractions(const compile::Executable& executable) {
  std::map<std::string_view, int> count;
  for (const auto& each : executable.contractions) ++count[each.key];
  std::string out;
  for (const lower::cpu::ScheduledContraction& each : executable.contractions) {
    const int times = std::exchange(count[each.key], 0);
    if (times == 0) continue;
    std::string candidates;
    for (const lower::cpu::Schedule& candidate : compile::candidates(each.shape)) {
      append(candidates, candidates.empty() ? "" : ",", json_of(candidate));
    }
    append(out, out.empty() ? "" : ",", "{\"key\":", json_string(each.key), ",\"count\":", times,
           ",\"multiplyAdds\":", each.shape.multiply_adds(),
           ",\"schedule\":", json_of(each.schedule),
           ",\"standard\":", json_of(lower::cpu::default_schedule(each.shape)), ",\"candidates\":[",
           candidates, "]}");
  }
  return concat('[', out, ']');
}

}  // namespace lathe::api
