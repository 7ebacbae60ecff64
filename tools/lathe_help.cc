// Help, generated from the table of verbs.
#include <algorithm>

#include "lathe.h"
#include "lathe/base/text.h"

namespace lathe::tool {
namespace {

constexpr std::string_view kCommon =
    "\nA file called - is standard input or, with -o, standard output. `lathe --version` prints "
    "the\n"
    "version. Exit codes: 0 done; 1 a file cannot be read or created, or is not what it should "
    "be;\n"
    "2 wrong use of the command: an unknown verb or flag, a wrong value of a flag, a missing or\n"
    "superfluous file.\n";

void print_verb(const Verb& verb) {
  print_text(concat(usage(verb), "\n    ", verb.what, "\n"));
  if (!verb.more.empty()) print_text(concat("\n", verb.more));
  if (!verb.flags.empty()) print_line("");
  for (const Flag& flag : verb.flags) {
    const std::string_view between = !flag.expects_value()         ? ""
                                     : flag.name.starts_with("--") ? "="
                                                                   : " ";
    const std::string syntax = concat("  ", flag.name, between, flag.value);
    constexpr size_t kWidth = 34;
    print_line(concat(padded(syntax, kWidth), syntax.size() < kWidth ? "" : "  ", flag.what));
  }
}

}  // namespace

std::string usage(const Verb& verb) {
  return concat("lathe ", verb.name, verb.files.empty() ? "" : " ", verb.files,
                verb.flags.empty() ? "" : " [FLAG…]");
}

Outcome<void> help(const Arguments& arguments) {
  if (!arguments.files().empty()) {
    const std::string& name = arguments.files()[0];
    const auto all = verbs();
    const auto verb = std::ranges::find(all, name, &Verb::name);
    if (verb == all.end()) return wrong_use(concat("unknown verb \"", name, "\""));
    print_verb(*verb);
    print_text(kCommon);
    return {};
  }
  for (const Verb& verb : verbs()) print_text(concat(usage(verb), "\n    ", verb.what, "\n"));
  print_text("\n`lathe help VERB` lists its flags.");
  print_text(kCommon);
  return {};
}

}  // namespace lathe::tool
