// Keywords, names and numbers of the loop IR's textual form, shared by its printer and its parser.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lathe/loop/loop.h"

namespace lathe::loop {

std::string_view text(BufferRole role);
std::optional<BufferRole> role_of(std::string_view text);

inline constexpr std::string_view kVectorWord = "vector";
inline constexpr std::string_view kUnrollWord = "unroll";
inline constexpr std::string_view kGridWord = "grid";
inline constexpr std::string_view kGroupWord = "group";
inline constexpr std::string_view kSubgroupWord = "subgroup";
inline constexpr std::string_view kReduceWord = "reduce";
inline constexpr std::string_view kParallelWord = "parallel";
inline constexpr std::string_view kGrainWord = "by";
inline constexpr std::string_view kOutlinedWord = "outlined";
inline constexpr std::string_view kBarrierWord = "barrier";
inline constexpr std::string_view kSharedWord = "shared";
inline constexpr std::string_view kWhenWord = "when";
inline constexpr std::string_view kRarelyWord =
    "rarely";  // a select whose condition is rarely true
inline constexpr std::string_view kLookupWord = "plus";

bool starts_name(char c);
bool continues_name(char c);
// The name as it is where it is a valid identifier, else quoted.
void append_name(std::string& out, std::string_view name);
void append_quoted(std::string& out, std::string_view text);

// The quiet NaN without a sign.
Number usual_nan(DType dtype);
// Exact value and dtype: 3 is i32, 3.0, inf and nan are f32, true is bool, 3:i64 is i64, 3.0:f64 is
// f64. A NaN other than the usual one is printed with its bits: nan:xffc00000.
void append_number(std::string& out, const Number& number);

}  // namespace lathe::loop
