#!/usr/bin/env python3
"""
Fails when docs/design/module_state.md does not list exactly the mutable state of modules in js/src: bindings at the top level of a
file that are variables (`let`), objects with state (`new`), and what this or an importing file changes.
"""
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent
page = "docs/design/module_state.md"
# Objects without state that a caller can observe.
STATELESS = r"(?:TextDecoder|TextEncoder|URL|Intl\.\w+|Error|Proxy)\b"
BINDING = re.compile(r"^(?:export )?(let|const) (\w+)(?:: [^\n]*?)?(?: =(?!>)\s*(?:/\* @__PURE__ \*/ )?(.*)|;)$", re.M)
CHANGES = r"(?:set|add|delete|clear|push|pop|shift|unshift|splice|fill|register|unregister)"
ROW = re.compile(r"^\| `([\w/.]+\.ts)` \| ((?:`\w+`(?:, )?)+) \| ", re.M)


def is_state(kind, name, value, text):
    if kind == "let":
        return True
    if re.match(rf"new (?!{STATELESS})", value) and not re.match(r"new (Map|Set)\b(<.*?>)?\((?!\))", value):
        return True
    return bool(re.search(rf"(?<![\w.#]){name}(\.{CHANGES}\(|(\.\w+|\[[^\]\n]*\])+ (=|\+=|-=|\?\?=) )", text))


def found():
    texts = {path: path.read_text() for path in sorted((root / "js/src").rglob("*.ts")) if not path.name.endswith(".d.ts")}
    importers = {}
    for path, text in texts.items():
        for names, file in re.findall(r"import \{([^}]*)\} from '(\.[./\w]*)\.js'", text):
            for name in re.findall(r"\w+", names):
                importers.setdefault(((path.parent / file).resolve(), name), []).append(text)
    for path, text in texts.items():
        for kind, name, value in BINDING.findall(text):
            if is_state(kind, name, value, "\n".join([text, *importers.get((path.with_suffix(""), name), [])])):
                yield str(path.relative_to(root / "js/src")), name


listed = [(file, name) for file, names in ROW.findall((root / page).read_text()) for name in re.findall(r"\w+", names)]
state = list(found())
problems = [f"js/src/{file}: {page} does not list `{name}`" for file, name in state if (file, name) not in listed]
problems += [f"{page}: `{name}` of {file} is no mutable state" for file, name in listed if (file, name) not in state]
problems += [f"{page}: `{name}` of {file} is listed twice" for file, name in set(listed) if listed.count((file, name)) > 1]
print("\n".join(problems) or f"state: {page} lists the {len(state)} mutable bindings of modules")
sys.exit(bool(problems))
