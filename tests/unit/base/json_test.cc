#include "lathe/base/json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "lathe/base/json_writer.h"

namespace lathe::json_test {
namespace {

using Oracle = nlohmann::json;

bool equal(const Json& json, const Oracle& oracle) {
  switch (json.kind()) {
    case Json::Kind::Null:
      return oracle.is_null();
    case Json::Kind::Boolean:
      return oracle.is_boolean() && oracle.get<bool>() == json.boolean();
    case Json::Kind::Number:
      return oracle.is_number() && oracle.get<double>() == json.number();
    case Json::Kind::String:
      return oracle.is_string() && oracle.get<std::string>() == json.string();
    case Json::Kind::Array:
      if (!oracle.is_array() || oracle.size() != json.values().size()) return false;
      for (size_t i = 0; i < oracle.size(); ++i) {
        if (!equal(json.values()[i], oracle[i])) return false;
      }
      return true;
    case Json::Kind::Object:
      if (!oracle.is_object() || oracle.size() != json.keys().size()) return false;
      for (const auto& [key, value] : oracle.items()) {
        const Json* found = json.find(key);
        if (found == nullptr || !equal(*found, value)) return false;
      }
      return true;
  }
  return false;
}

// Both accept it with equal values, or both reject it. A duplicate key is an error here.
void check(const std::string& text) {
  const Oracle oracle = Oracle::parse(text, nullptr, false);
  const auto json = Json::parse(text);
  if (!json && json.error().message.contains("has twice the key")) return;
  const std::string outcome = json ? "accepted" : json.error().message;
  ASSERT_EQ(json.has_value(), !oracle.is_discarded()) << text << "\n" << outcome;
  if (json) {
    ASSERT_TRUE(equal(*json, oracle)) << text;
    ASSERT_TRUE(equal(*json, Oracle::parse(json->dump()))) << text;
  }
}

constexpr const char* kTexts[] = {
    R"({"name":"net","layers":[{"class":"Dense","config":{"units":128,"rate":-0.25e-3}},null,true]})",
    R"(["\u00e9\ud83d\ude00\n\t\"\\\/\b\f\r","é😀",[],{},[[[]]],0,-0,1e5,1E+5,0.1,12345678901234567890])",
    R"({"a":{"b":{"c":[1,2.5,false,null,"x"]}},"":"","\u0000":1})",
    " \n\t\r[1 , 2 ]\r\n ",
    "\"\xed\xa0\x80\"",
    "\"\xf4\x90\x80\x80\"",
    "\"\xc0\x80\"",
    "01",
    "-",
    "1.",
    ".5",
    "1e",
    "[1,]",
    "{\"a\":1,}",
    "[1 2]",
    "{1:2}",
    "nul",
    "",
    "\"\\ud800\"",
    "\"\\ud800\\u0041\"",
    "\"\\udc00\"",
    "\"\\x\"",
    "\"\n\"",
    "1e400",
    "-1e-400",
    "[1]x",
};

TEST(Json, AgreesWithALibrary) {
  for (const char* text : kTexts) check(text);
  check(std::string("[1\0]", 4));
  check(std::string("\"\0\"", 3));
}

TEST(Json, AgreesOnMutatedInput) {
  std::mt19937 random(1);
  constexpr std::string_view kCharacters = "[]{}\",:\\u0e+-.1tfn \xc3\xa9\xf0\x9f\n";
  for (int i = 0; i < 20000; ++i) {
    std::string text = kTexts[random() % 4];
    for (int changes = 1 + random() % 3; changes-- > 0;) {
      const size_t at = random() % text.size();
      const char c = kCharacters[random() % kCharacters.size()];
      if (random() % 3 == 0) {
        text.erase(at, 1 + random() % 4);
      } else if (random() % 2 == 0) {
        text.insert(at, 1, c);
      } else {
        text[at] = c;
      }
      if (text.empty()) break;
    }
    ASSERT_NO_FATAL_FAILURE(check(text));
  }
}

TEST(Json, ErrorsNameTheOffset) {
  const auto error = [](std::string_view text) { return Json::parse(text, 3).error().message; };
  EXPECT_EQ(error("[1,\n x]"), "the text is not JSON: byte 5: expected a value");
  EXPECT_EQ(error(R"({"a":1 "b")"), "the text is not JSON: byte 7: expected , or }");
  EXPECT_EQ(error(R"({"a":1,"a":2})"),
            "the text is not JSON: byte 13: the object before has twice the key \"a\"");
  EXPECT_EQ(error("[[[[]]]]"), "the text is not JSON: byte 3: nested too deep");
  EXPECT_EQ(error("\"abc"), "the text is not JSON: byte 4: the string has no end");
  EXPECT_FALSE(Json::parse(std::string(1'000'000, '[')).has_value());
}

TEST(Json, ReadsLongNumbersInTimeThatGrowsWithThem) {
  const std::string zeros(1'000'000, '0');
  EXPECT_EQ(Json::parse("0." + zeros + "1")->number(), 0);
  EXPECT_EQ(Json::parse("0." + zeros + "25e1000001")->number(), 2.5);
  EXPECT_EQ(Json::parse("1." + zeros + "1")->number(), 1);
  EXPECT_EQ(Json::parse("25" + zeros + "e-1000001")->number(), 2.5);
  EXPECT_FALSE(Json::parse("1" + zeros).has_value());
}

TEST(Json, CountsAreIntegers) {
  for (const char* text : {"0", "3", "4e3", "9007199254740992"}) {
    EXPECT_TRUE(Json::parse(text)->is_count()) << text;
  }
  for (const char* text : {"-1", "0.5", "9007199254740994", "\"3\"", "null"}) {
    EXPECT_FALSE(Json::parse(text)->is_count()) << text;
  }
}

TEST(JsonWriter, AddsCommasBetweenValues) {
  JsonWriter json;
  json.begin_object().member("a", 1).member("b", "x\"{").key("c").begin_array();
  json.value(true).value(0.5).begin_array().end_array().begin_object().end_object().end_array();
  json.member("d", std::vector<int64_t>{-1, 2}).key("e").raw("[null]").end_object();
  EXPECT_EQ(json.json(), R"({"a":1,"b":"x\"{","c":[true,0.5,[],{}],"d":[-1,2],"e":[null]})");
  EXPECT_TRUE(Json::parse(json.release()).has_value());
  EXPECT_EQ(json.member("a", 1).raw("\"b\":2").json(), R"("a":1,"b":2)");
}

}  // namespace
}  // namespace lathe::json_test
