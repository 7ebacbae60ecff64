// `lathe completion`: scripts for shells, generated from the table of verbs.
#include <algorithm>

#include "lathe.h"
#include "lathe/base/text.h"

namespace lathe::tool {
namespace {

std::string names_of_verbs() {
  std::string names;
  for (const Verb& verb : verbs()) append(names, names.empty() ? "" : " ", verb.name);
  return names;
}

// What completes the value of a flag or the files of a verb, by how its usage shows it: words,
// names of files, or neither.
struct Candidates {
  std::string words;
  bool are_files = false;
};

Candidates candidates(std::string_view syntax) {
  if (syntax == "[VERB]") return {names_of_verbs()};
  if (syntax.find_first_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ") == syntax.npos) {
    std::string words(syntax);
    std::ranges::replace(words, '|', ' ');
    return {std::move(words)};
  }
  constexpr std::string_view kFiles[] = {"FILE", "FOLDER", "MODEL", "OUT"};
  const auto is_part = [&](std::string_view name) { return syntax.find(name) != syntax.npos; };
  return {.words = {}, .are_files = std::ranges::any_of(kFiles, is_part)};
}

// With a backslash before each of these characters.
std::string escaped(std::string_view text, std::string_view characters) {
  std::string result;
  for (const char each : text) {
    if (characters.find(each) != characters.npos) result += '\\';
    result += each;
  }
  return result;
}

// One word of bash or zsh, that is no part of '…' but by leaving it.
std::string quoted(std::string_view text) {
  std::string result = "'";
  for (const char each : text) append(result, each == '\'' ? "'\\'" : "", each);
  return result + "'";
}

std::string for_bash() {
  std::string flags, values;
  const auto add_values = [&](std::string_view verb, std::string_view flag,
                              std::string_view syntax) {
    const std::string words = candidates(syntax).words;
    if (words.empty()) return;
    append(values, "    ", verb, flag, ") words='", words, "' ;;\n");
  };
  for (const Verb& verb : verbs()) {
    for (const Flag& flag : verb.flags) add_values(verb.name, flag.name, flag.value);
    add_values(verb.name, "*", verb.files);
    if (verb.flags.empty()) continue;
    append(flags, "    ", verb.name, ") words='");
    for (const Flag& flag : verb.flags) append(flags, flag.name, ' ');
    flags += "' ;;\n";
  }
  return concat(
      "_lathe() {\n"
      "  local words='' word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
      "  [[ $before == = ]] && before=${COMP_WORDS[COMP_CWORD-2]}\n"
      "  [[ $word == = ]] && { before=${COMP_WORDS[COMP_CWORD-1]}; word=''; }\n"
      "  if ((COMP_CWORD == 1)); then\n"
      "    COMPREPLY=($(compgen -W '",
      names_of_verbs(),
      " --version' -- \"$word\"))\n    return\n  fi\n"
      "  case ${COMP_WORDS[1]}$before in\n",
      values, "  esac\n", "  [[ $word == -* ]] && case ${COMP_WORDS[1]} in\n", flags,
      "  esac\n"
      "  if [[ -n $words ]]; then COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
      "  else COMPREPLY=($(compgen -f -- \"$word\")); fi\n"
      "}\n"
      "complete -o filenames -F _lathe lathe\n");
}

// ":MESSAGE:ACTION" of an argument of _arguments.
std::string zsh_argument(std::string_view syntax) {
  const auto [words, are_files] = candidates(syntax);
  return concat(':', escaped(syntax, ":\\"), ':',
                !words.empty() ? concat('(', words, ')') : std::string(are_files ? "_files" : " "));
}

std::string for_zsh() {
  std::string names, cases;
  for (const Verb& verb : verbs()) {
    append(names, "      ", quoted(concat(verb.name, ':', verb.what)), "\n");
    append(cases, "    ", verb.name, ") _arguments");
    for (const Flag& flag : verb.flags) {
      append(cases, " \\\n      ",
             quoted(concat('*', flag.name,
                           flag.expects_value() && flag.name.starts_with("--") ? "=" : "", '[',
                           escaped(flag.what, "[]\\"), ']',
                           flag.expects_value() ? zsh_argument(flag.value) : "")));
    }
    if (!verb.files.empty()) {
      append(cases, " \\\n      ", quoted(concat('*', zsh_argument(verb.files))));
    }
    cases += " ;;\n";
  }
  return concat(
      "_lathe() {\n"
      "  if ((CURRENT == 2)); then\n"
      "    local -a verbs=(\n",
      names,
      "      '--version:print the version'\n"
      "    )\n"
      "    _describe verb verbs\n"
      "    return\n"
      "  fi\n"
      "  shift words\n"
      "  ((CURRENT--))\n"
      "  case $words[1] in\n",
      cases,
      "  esac\n"
      "}\n"
      // As a file _lathe of $fpath, it is the body of the function when it is first called.
      "if [[ $funcstack[1] == _lathe ]]; then _lathe \"$@\"; else compdef _lathe lathe; fi\n");
}

std::string fish_argument(std::string_view syntax) {
  const auto [words, are_files] = candidates(syntax);
  if (!words.empty()) return concat(" -x -a ", quoted(words));
  return are_files ? " -r -F" : " -x";
}

std::string for_fish() {
  const auto described = [](std::string_view what) {
    return concat(" -d '", escaped(what, "'\\"), "'\n");
  };
  std::string script = "complete -c lathe -f\n";
  const std::string_view first = "complete -c lathe -n __fish_use_subcommand";
  for (const Verb& verb : verbs()) append(script, first, " -a ", verb.name, described(verb.what));
  append(script, first, " -l version", described("print the version"));
  for (const Verb& verb : verbs()) {
    const std::string after =
        concat("complete -c lathe -n '__fish_seen_subcommand_from ", verb.name, "'");
    for (const Flag& flag : verb.flags) {
      const bool is_long = flag.name.starts_with("--");
      append(script, after, is_long ? " -l " : " -s ", flag.name.substr(is_long ? 2 : 1),
             flag.expects_value() ? fish_argument(flag.value) : "", described(flag.what));
    }
    const auto [words, are_files] = candidates(verb.files);
    if (!words.empty()) append(script, after, " -a ", quoted(words), "\n");
    if (are_files) append(script, after, " -F\n");
  }
  return script;
}

}  // namespace

Outcome<void> completion(const Arguments& arguments) {
  constexpr struct {
    std::string_view shell, first_line;
    std::string (*script)();
  } kShells[] = {
      {"bash", "", for_bash}, {"zsh", "#compdef lathe\n", for_zsh}, {"fish", "", for_fish}};
  const std::string& name = arguments.files()[0];
  for (const auto& [shell, first_line, script] : kShells) {
    if (name != shell) continue;
    print_text(concat(first_line,
                      "# Completes the words of the command lathe; generated by `lathe completion ",
                      shell, "`.\n", script()));
    return {};
  }
  return wrong_use(
      concat("completion for ", name, " is not supported; supported: bash, zsh, fish"));
}

}  // namespace lathe::tool
