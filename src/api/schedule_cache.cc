#include "lathe/api/schedule_cache.h"

#include "lathe/api/schedule_json.h"
#include "lathe/base/text.h"

namespace lathe::api {
namespace {

constexpr uint64_t kVersion = 1;

Status read_target(const Json& pairs, const std::string& path, lower::cpu::Schedules& schedules) {
  if (!pairs.is_array()) return fail(concat(path, ": must be an array"));
  Json by_key = Json::object();
  for (const Json& pair : pairs.values()) {
    const std::vector<Json>& parts = pair.values();
    if (!pair.is_array() || parts.size() != 2 || !parts[0].is_string()) {
      return fail(concat(path, ": must contain pairs of a key and a schedule"));
    }
    by_key.add(parts[0].string(), parts[1]);
  }
  return read_schedules(&by_key, path, schedules);
}

std::string words_of(compile::Features features) {
  std::string words;
  features.visit([&](std::string_view name, bool has) {
    if (has && name != "threads" && name != "fastPairs") append(words, ' ', name);
  });
  return words;
}

}  // namespace

Result<ScheduleCache> parse_schedule_cache(std::string_view text) {
  LATHE_ASSIGN_OR_RETURN(const Json json, parse_json(text));
  ObjectReader reader(json, "");
  uint64_t version = 0;
  reader("version", version);
  const Json* targets = reader.find("targets");
  if (version != kVersion) {
    return fail(concat("it is of version ", version, ", and this compiler reads ", kVersion));
  }
  LATHE_TRY(reader.finish());
  if (targets == nullptr || !targets->is_object()) return fail("targets: must be an object");
  ScheduleCache cache;
  for (size_t i = 0; i < targets->keys().size(); ++i) {
    const std::string& name = targets->keys()[i];
    LATHE_TRY(read_target(targets->values()[i], concat("targets.", name), cache[name]));
  }
  return cache;
}

Result<std::string> find_target(const ScheduleCache& cache, compile::Features features,
                                std::string_view part) {
  const std::string words = words_of(features);
  std::string all, found;
  int fitting = 0;
  for (const auto& [name, schedules] : cache) {
    append(all, all.empty() ? "" : ", ", '"', name, '"');
    if (!name.ends_with(words) || name.find(part) == name.npos) continue;
    found = name;
    ++fitting;
  }
  if (fitting == 1) return found;
  return fail(concat(fitting == 0 ? "no target" : "more than one target", " has the features",
                     words, part.empty() ? "" : concat(" and the name ", part), "; there are ",
                     all));
}

}  // namespace lathe::api
