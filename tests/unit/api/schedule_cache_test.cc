#include "lathe/api/schedule_cache.h"

#include <gtest/gtest.h>

namespace lathe::api {
namespace {

constexpr const char* kCache = R"({"version":1,"targets":{
  "V8 13 AMD simd":[["a",{"rows":4}],["b",{"columns":8,"unroll":2}]],
  "V8 13 AMD simd relaxedSimd":[],
  "V8 14 AMD simd relaxedSimd":[["a",{"rows":2}]]}})";

std::string error_of(std::string_view text) {
  const auto cache = parse_schedule_cache(text);
  return cache ? "" : cache.error().message;
}

TEST(ScheduleCache, ReadsTargetsAndKeys) {
  const auto cache = parse_schedule_cache(kCache);
  ASSERT_TRUE(cache) << cache.error().message;
  ASSERT_EQ(cache->size(), 3u);
  const lower::cpu::Schedules& schedules = cache->at("V8 13 AMD simd");
  EXPECT_EQ(schedules.at("a"), (lower::cpu::Schedule{.rows = 4}));
  EXPECT_EQ(schedules.at("b"), (lower::cpu::Schedule{.columns = 8, .unroll = 2}));
}

TEST(ScheduleCache, FindsTheTargetWithTheFeatures) {
  const auto cache = parse_schedule_cache(kCache);
  ASSERT_TRUE(cache);
  const compile::Features simd = *compile::parse_features("simd,threads");
  const compile::Features relaxed = *compile::parse_features("simd,relaxedSimd");
  EXPECT_EQ(*find_target(*cache, simd, ""), "V8 13 AMD simd");
  EXPECT_EQ(*find_target(*cache, relaxed, "14"), "V8 14 AMD simd relaxedSimd");
  EXPECT_TRUE(find_target(*cache, relaxed, "")
                  .error()
                  .message.starts_with("more than one target has the features simd relaxedSimd; "
                                       "there are \"V8 13 AMD simd\", "));
  EXPECT_TRUE(find_target(*cache, simd, "Firefox")
                  .error()
                  .message.starts_with("no target has the features simd and the name Firefox; "));
}

TEST(ScheduleCache, ReportsErrorsOfFiles) {
  EXPECT_EQ(error_of("{"), "the text is not JSON: byte 1: expected a key");
  EXPECT_EQ(error_of(R"({"version":2,"targets":{}})"),
            "it is of version 2, and this compiler reads 1");
  EXPECT_EQ(error_of(R"({"version":1})"), "targets: must be an object");
  EXPECT_EQ(error_of(R"({"version":1,"targets":{"t":3}})"), "targets.t: must be an array");
  EXPECT_EQ(error_of(R"({"version":1,"targets":{"t":[["key"]]}})"),
            "targets.t: must contain pairs of a key and a schedule");
  EXPECT_EQ(error_of(R"({"version":1,"targets":{"t":[["key",{"rose":1}]]}})").substr(0, 34),
            "targets.t.key: unknown key \"rose\";");
  EXPECT_EQ(error_of(R"({"version":1,"targets":{"t":[["key",{"rows":-1}]]}})"),
            "targets.t.key.rows: must be a positive integer, got -1");
}

}  // namespace
}  // namespace lathe::api
