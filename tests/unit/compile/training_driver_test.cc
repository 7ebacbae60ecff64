#include "lathe/compile/training_driver.h"

#include <gtest/gtest.h>

namespace lathe::compile {
namespace {

// What it does tests/js/node/standalone/training_module.test.mjs shows.
TEST(TrainingDriver, ReferencesTheModuleByName) {
  const std::string text = training_driver("my \"net\".wasm");
  EXPECT_NE(text.find("new URL(encodeURIComponent(\"my \\\"net\\\".wasm\"), import.meta.url)"),
            std::string::npos);
  EXPECT_NE(text.find("export const load = "), std::string::npos);
  EXPECT_NE(text.find("loadTrainingModule"), std::string::npos);
}

}  // namespace
}  // namespace lathe::compile
