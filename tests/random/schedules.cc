#include "schedules.h"

#include "lathe/compile/tune.h"

namespace lathe::random_tests {

namespace {

// Splits even what is far too small for it.
constexpr double kSplitAlways = 0.1;

struct FeatureSet {
  const char* name;
  compile::Features features;
};
constexpr FeatureSet kFeatureSets[] = {
    {"scalar", {.simd = false}},
    {"simd", {.simd = true}},
    {"relaxed", {.simd = true, .relaxed_simd = true}},
    {"threads", {.simd = true, .threads = true}},
};
constexpr std::array<FeatureSet, 8> kScheduled = {{
    {"scalar scheduled", {.simd = false}},
    {"simd scheduled", {.simd = true}},
    {"simd scheduled", {.simd = true}},
    {"wide scheduled", {.simd = true, .wide_lanes = true}},
    {"relaxed scheduled", {.simd = true, .relaxed_simd = true}},
    {"wide relaxed scheduled", {.simd = true, .relaxed_simd = true, .wide_lanes = true}},
    {"threads scheduled", {.simd = true, .threads = true}},
    {"scalar threads scheduled", {.simd = false, .threads = true}},
}};

// What a tuner would try, or anything: every schedule is legal.
lower::cpu::Schedule random_schedule(const lower::cpu::ContractionShape& shape, Rng& rng) {
  const std::vector<lower::cpu::Schedule> candidates = compile::candidates(shape);
  if (!candidates.empty() && rng.chance(50)) return rng.of(candidates);
  lower::cpu::Schedule schedule;
  for (const lower::cpu::ScheduleField& each : lower::cpu::kScheduleFields) {
    if (rng.chance(50)) schedule.*each.field = static_cast<int32_t>(rng.from(0, 9));
  }
  if (rng.chance(80)) schedule.lanes = static_cast<int32_t>(rng.from(0, 2));
  schedule.pack_rows = static_cast<int32_t>(rng.from(0, 2));
  schedule.pack_columns = static_cast<int32_t>(rng.from(0, 2));
  static constexpr std::array<int32_t, 4> kWinograd = {0, 1, 2, 4};
  schedule.winograd = rng.of(kWinograd);
  return schedule;
}

compile::Options options_for(const FeatureSet& set) {
  compile::Options options;
  options.features = set.features;
  options.worth_splitting = kSplitAlways;
  options.verify = true;
  return options;
}

}  // namespace

Result<std::vector<Variant>> variants(const graph::Program& program, Rng& rng) {
  std::vector<Variant> result;
  for (const FeatureSet& set : kFeatureSets) {
    LATHE_ASSIGN_OR_RETURN(compile::Executable executable,
                           compile::compile(program, options_for(set)));
    result.push_back({set.name, std::move(executable)});
  }
  const FeatureSet& set = rng.of(kScheduled);
  compile::Options options = options_for(set);
  options.winograd = rng.chance(70);
  // The keys are those of this feature set.
  LATHE_ASSIGN_OR_RETURN(const compile::Executable standard, compile::compile(program, options));
  for (const lower::cpu::ScheduledContraction& each : standard.wasm().contractions) {
    if (rng.chance(85)) options.schedules[each.key] = random_schedule(each.shape, rng);
  }
  if (options.schedules.empty()) return result;
  LATHE_ASSIGN_OR_RETURN(compile::Executable executable, compile::compile(program, options));
  result.push_back({set.name, std::move(executable)});
  return result;
}

}  // namespace lathe::random_tests
