#include "lathe/base/file_name.h"

#include <gtest/gtest.h>

#include <string>

namespace lathe {
namespace {

TEST(FileName, StaysInItsFolder) {
  for (const char* name : {"a.bin",
                           "part/a.bin",
                           "a..b",
                           "..a",
                           "a..",
                           "...",
                           "a/./b",
                           "./a",
                           ".//a",
                           "a//b",
                           "a b.bin",
                           "100%.bin",
                           "50%ab",
                           "a%20b.bin",
                           "caf\xc3\xa9/\xe6\xa8\xa1.bin",
                           "caf%C3%A9",
                           "%25.bin",
                           "onnx/dense:0",
                           "a.bin?key=a%2Fb",
                           "a.bin?at=1:2",
                           "a#1.bin",
                           "%e9",
                           "\xe9",
                           "a;b/c"}) {
    EXPECT_TRUE(stays_in_folder(name)) << name;
  }
}

TEST(FileName, LeavesItsFolder) {
  for (const char* name : {"",
                           ".",
                           "..",
                           "./",
                           "a/",
                           "a/.",
                           "../a",
                           "a/../b",
                           "a/..",
                           "/a",
                           "//a",
                           "\\a",
                           "\\\\h\\a",
                           "a\\..\\b",
                           "https://x/a",
                           "./https://x/a",
                           "file:a",
                           "C:a",
                           "./C:a",
                           ".//C:/a",
                           "%2e%2e/a",
                           ".%2E/a",
                           "%252e%252e/a",
                           "%25252e./a",
                           "%2%65%2e/a",
                           "..%2fa",
                           "..%252fa",
                           "a%2fb",
                           "%2fa",
                           "a%5Cb",
                           "a%255cb",
                           "..\t/a",
                           ".\n./a",
                           "\t//h/a",
                           "\x7f",
                           "a%00",
                           "%0a",
                           " ../a",
                           ".. /a",
                           ". ./a",
                           "..;/a",
                           "..;x=1/a",
                           "%c0%ae%c0%ae/a",
                           "%e0%80%ae./a",
                           "%25c0%25af",
                           "?a",
                           "#a",
                           "%3fa",
                           "a?/../b",
                           "..?a",
                           "..#/a"}) {
    EXPECT_FALSE(stays_in_folder(name)) << name;
  }
  EXPECT_FALSE(stays_in_folder(std::string_view("\0../a", 5)));
  EXPECT_FALSE(stays_in_folder(std::string_view("a\0", 2)));
}

// Decoding of nested escapes ends after a few passes.
TEST(FileName, NestedEscapes) {
  std::string name = "%";
  for (int i = 0; i < 500000; ++i) name += "25";
  EXPECT_FALSE(stays_in_folder(name + "2e./a"));
}

}  // namespace
}  // namespace lathe
