#include "lathe/compile/features.h"

#include "lathe/base/text.h"

namespace lathe::compile {
namespace {

// What every engine with SIMD has had for longer; nothing else may be used unasked.
constexpr wasm::FeatureSet kBaseline = {wasm::Feature::mvp, wasm::Feature::sign_extension,
                                        wasm::Feature::saturating_float_to_int,
                                        wasm::Feature::bulk_memory};

}  // namespace

Result<Features> parse_features(std::string_view text) {
  Features features;
  std::string registered;
  features.visit([&](std::string_view name, bool& has) {
    append(registered, registered.empty() ? "" : ", ", name);
    has = false;
  });
  while (!text.empty()) {
    const size_t comma = text.find(',');
    const std::string_view word = text.substr(0, comma);
    bool found = false;
    features.visit([&](std::string_view name, bool& has) {
      if (name == word) has = found = true;
    });
    if (!found) return fail(concat("unknown feature \"", word, "\"; known: ", registered));
    text = comma == text.npos ? "" : text.substr(comma + 1);
  }
  return features;
}

wasm::FeatureSet proposals_of(const Features& features) {
  wasm::FeatureSet set = kBaseline;
#define LATHE_FEATURE(member_, name_, proposal_, default_) \
  if (features.member_) set.add(wasm::Feature::proposal_);
#include "lathe/compile/features.def"
  return set;
}

}  // namespace lathe::compile
