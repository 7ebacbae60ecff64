// Help and completion, written from the table of verbs.
#include <algorithm>

#include "lathe.h"
#include "lathe/base/text.h"

namespace lathe::tool {
namespace {

constexpr std::string_view kCommon =
    "\nA file called - is standard input or, with -o, standard output. `lathe --version` prints "
    "the\n"
    "version. Exit codes: 0 done; 1 a file cannot be read or written, or is not what it should "
    "be;\n"
    "2 wrong use of the command: an unknown verb or flag, a wrong value of a flag, a missing or\n"
    "superfluous file.\n";

void print_verb(const Verb& verb) {
  print_text(concat(usage(verb), "\n    ", verb.what, "\n"));
  if (!verb.more.empty()) print_text(concat("\n", verb.more));
  if (!verb.flags.empty()) print_line("");
  for (const Flag& flag : verb.flags) {
    const std::string_view between = !flag.takes_value()           ? ""
                                     : flag.name.starts_with("--") ? "="
                                                                   : " ";
    const std::string spelled = concat("  ", flag.name, between, flag.value);
    constexpr size_t kWidth = 34;
    print_line(concat(padded(spelled, kWidth), spelled.size() < kWidth ? "" : "  ", flag.what));
  }
}

// The words that a flag takes, or nothing where they are no few ones.
std::string words_of(const Flag& flag) {
  std::string words(flag.value);
  if (words.find_first_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ") != words.npos) return {};
  std::ranges::replace(words, '|', ' ');
  return words;
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

Outcome<void> completion(const Arguments& arguments) {
  if (arguments.files()[0] != "bash") {
    return wrong_use(concat("completion for ", arguments.files()[0], " is not known; known: bash"));
  }
  std::string names, flags, values;
  for (const Verb& verb : verbs()) {
    append(names, verb.name, ' ');
    if (verb.flags.empty()) continue;
    append(flags, "    ", verb.name, ") words='");
    for (const Flag& flag : verb.flags) {
      append(flags, flag.name, ' ');
      const std::string words = words_of(flag);
      if (!words.empty())
        append(values, "    ", verb.name, flag.name, ") words='", words, "' ;;\n");
    }
    flags += "' ;;\n";
  }
  print_text(
      concat("# Completes the words of the command lathe; written by `lathe completion bash`.\n"
             "_lathe() {\n"
             "  local words='' word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
             "  [[ $before == = ]] && before=${COMP_WORDS[COMP_CWORD-2]}\n"
             "  [[ $word == = ]] && { before=${COMP_WORDS[COMP_CWORD-1]}; word=''; }\n"
             "  if ((COMP_CWORD == 1)); then\n"
             "    COMPREPLY=($(compgen -W '",
             names,
             "--version' -- \"$word\"))\n    return\n  fi\n"
             "  case ${COMP_WORDS[1]}$before in\n",
             values, "    help*) words='", names, "' ;;\n    completion*) words=bash ;;\n",
             "  esac\n", "  [[ $word == -* ]] && case ${COMP_WORDS[1]} in\n", flags,
             "  esac\n"
             "  if [[ -n $words ]]; then COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
             "  else COMPREPLY=($(compgen -f -- \"$word\")); fi\n"
             "}\n"
             "complete -o filenames -F _lathe lathe\n"));
  return {};
}

}  // namespace lathe::tool
