#include "lathe/api/schedule_json.h"

#include <map>

#include "lathe/base/json_writer.h"
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

void write(JsonWriter& json, const lower::cpu::Schedule& schedule) {
  json.begin_object();
  for (const lower::cpu::ScheduleField& each : lower::cpu::kScheduleFields) {
    if (schedule.*each.field != 0) json.member(each.name, schedule.*each.field);
  }
  json.end_object();
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
  for (const auto& each : executable.wasm().contractions) ++count[each.key];
  JsonWriter json;
  json.begin_array();
  for (const lower::cpu::ScheduledContraction& each : executable.wasm().contractions) {
    const int times = std::exchange(count[each.key], 0);
    if (times == 0) continue;
    json.begin_object().member("key", each.key).member("count", times);
    json.member("multiplyAdds", each.shape.multiply_adds());
    write(json.key("schedule"), each.schedule);
    write(json.key("standard"), lower::cpu::default_schedule(each.shape));
    json.key("candidates").begin_array();
    for (const lower::cpu::Schedule& candidate : compile::candidates(each.shape)) {
      write(json, candidate);
    }
    json.end_array().end_object();
  }
  return json.end_array().release();
}

}  // namespace lathe::api
