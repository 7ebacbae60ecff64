#!/usr/bin/env python3
"""
Fails when a folder of src/ or js/src/ includes, imports, or links in CMake, what tools/layers.txt does not grant it, and when
files include or import each other in a circle. Imports of types count, and so do dynamic ones: a file that loads another on
demand cannot be understood, moved or tested without it either.
"""
import pathlib
import posixpath
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent
problems = []


def read_layers():
    """Returns {tree: {folder: folders it may import from}}; a grant must be declared above its use, so cycles are impossible."""
    trees = {}
    for line in (root / "tools/layers.txt").read_text().splitlines():
        if heading := re.fullmatch(r"\[(.+)\]", line.strip()):
            layers = trees.setdefault(heading[1], {})
        elif line.strip() and not line.startswith("#"):
            folder, grants = (part.strip() for part in line.split(":"))
            layers[folder] = {folder}
            for grant in grants.split():
                name = grant.removesuffix("/*")
                granted = {each for each in layers if each == name or grant != name and each.startswith(f"{name}/")} - {folder}
                if name not in granted | {folder}:
                    problems.append(f"tools/layers.txt: {folder} is granted {grant}, which no line above declares")
                layers[folder] |= granted
    return trees


def layer_of(path, layers):
    """The declared folder that contains a path such as emit/wasm/expr.h; the longest name wins."""
    parts = path.split("/")[:-1]
    names = ["/".join(parts[:count]) for count in range(len(parts), 0, -1)] or ["."]
    return next((name for name in names if name in layers), None)


def check(tree, suffixes, imports_of):
    """`imports_of` returns the line and the path, from the tree on, of everything that a file of this name and text imports."""
    layers = trees[tree]
    source = root / tree
    texts = {str(path.relative_to(source)): path.read_text() for path in sorted(source.rglob("*")) if path.suffix in suffixes}
    for layer in layers.keys() - {layer_of(name, layers) for name in texts}:
        problems.append(f"tools/layers.txt: {tree}/{layer} has no files")
    edges = {}
    for name, text in texts.items():
        folder = layer_of(name, layers)
        if folder is None:
            problems.append(f"{tree}/{name}: its folder has no line in tools/layers.txt")
            continue
        edges[name] = {}
        for number, imported in imports_of(name, text):
            if file := next((each for each in files_of(imported) if each in texts), None):
                edges[name].setdefault(file, number)
            target = layer_of(imported, layers)
            if target is None:
                problems.append(f'{tree}/{name}:{number}: "{imported}" does not start with a folder of {tree}/')
            elif target not in layers[folder]:
                problems.append(f"{tree}/{name}:{number}: {folder} may not import from {target}")
    for circle in circles(edges):
        lines = [f"  {tree}/{name}:{edges[name][target]}: {target}" for name, target in zip(circle, circle[1:] + circle[:1])]
        problems.append("\n".join([f"{tree}: these files import each other in a circle", *lines]))


def files_of(imported):
    """The files that an import may name: TypeScript is imported by the name of its output."""
    stem = imported.removesuffix(".js")
    return [imported] if stem == imported else [f"{stem}.ts", f"{stem}.d.ts", imported]


def circles(edges):
    """For each file in a circle that no circle found before contains, a shortest one through it."""
    found, in_circle = [], set()
    for start in edges:
        if start in in_circle:
            continue
        before, queue = {}, [start]
        for name in queue:
            for target in edges.get(name, ()):
                if target not in before:
                    before[target] = name
                    queue.append(target)
        if start in before:
            circle = [before[start]]
            while circle[0] != start:
                circle.insert(0, before[circle[0]])
            found.append(circle)
            in_circle.update(circle)
    return found


def includes(name, text):
    for number, line in enumerate(text.splitlines(), 1):
        if include := re.match(r'\s*#\s*include\s+"(?:lathe/)?([^"]+)"', line):
            yield number, include[1]


def imports(name, text):
    """Static, dynamic and type imports, and `new URL` references to files."""
    for found in re.finditer(r"""(?:\bfrom|\bimport\s*\(?|\bnew URL\()\s*['"](\.\.?/[^'"]*)['"]""", text):
        yield text.count("\n", 0, found.start()) + 1, posixpath.normpath(posixpath.join(posixpath.dirname(name), found[1]))


def check_links():
    """A library contains the subfolders of its folder, so it may link what any of them may import from."""
    layers = trees["src"]
    for path in sorted((root / "src").glob("*/**/CMakeLists.txt")):
        name = str(path.relative_to(root / "src"))
        folder = layer_of(name, layers)
        granted = {grant for each in layers for grant in layers[each] if folder and f"{each}/".startswith(f"{folder}/")}
        for dependencies in re.findall(r"lathe_library\([^)]*\bDEPS\s+([^)]*)\)", path.read_text()):
            for target in dependencies.split():
                if not any(f"{grant}/".startswith(f"{target}/") for grant in granted):
                    problems.append(f"src/{name}: {folder} may not link {target}")


trees = read_layers()
check("src", {".h", ".cc", ".def"}, includes)
check_links()
check("js/src", {".ts"}, imports)

print("\n".join(problems) or f"layers: {sum(map(len, trees.values()))} folders respect their grants, and no files import each other in a circle")
sys.exit(bool(problems))
