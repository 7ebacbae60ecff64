#!/usr/bin/env python3
"""Fails when a folder of src/ or js/src/ includes, imports, or links in CMake, what tools/layers.txt does not grant it."""
import pathlib
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
            for grant in grants.split():
                if grant not in layers:
                    problems.append(f"tools/layers.txt: {folder} is granted {grant}, which no line above declares")
            layers[folder] = {folder, *grants.split()}
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
    for path in sorted(source.rglob("*")):
        name = str(path.relative_to(source))
        if path.suffix not in suffixes:
            continue
        folder = layer_of(name, layers)
        if folder is None:
            problems.append(f"{tree}/{name}: its folder has no line in tools/layers.txt")
            continue
        for number, imported in imports_of(name, path.read_text()):
            target = layer_of(imported, layers)
            if target is None:
                problems.append(f'{tree}/{name}:{number}: "{imported}" does not start with a folder of {tree}/')
            elif target not in layers[folder]:
                problems.append(f"{tree}/{name}:{number}: {folder} may not import from {target}")


def includes(name, text):
    for number, line in enumerate(text.splitlines(), 1):
        if include := re.match(r'\s*#\s*include\s+"(?:lathe/)?([^"]+)"', line):
            yield number, include[1]


def imports(name, text):
    """Static, dynamic and type imports, and `new URL` references to files."""
    for found in re.finditer(r"""(?:\bfrom|\bimport\s*\(?|\bnew URL\()\s*['"](\.\.?/[^'"]*)['"]""", text):
        path = pathlib.PurePosixPath(name).parent
        for part in found[1].split("/"):
            path = path.parent if part == ".." else path / part
        yield text.count("\n", 0, found.start()) + 1, str(path)


def check_links():
    layers = trees["src"]
    for path in sorted((root / "src").glob("*/**/CMakeLists.txt")):
        name = str(path.relative_to(root / "src"))
        folder = layer_of(name, layers)
        for dependencies in re.findall(r"lathe_library\([^)]*\bDEPS\s+([^)]*)\)", path.read_text()):
            for target in dependencies.split():
                if folder is None or target not in layers[folder]:
                    problems.append(f"src/{name}: {folder} may not link {target}")


trees = read_layers()
check("src", {".h", ".cc", ".def"}, includes)
check_links()
check("js/src", {".ts"}, imports)

print("\n".join(problems) or f"layers: {sum(map(len, trees.values()))} folders respect their grants")
sys.exit(bool(problems))
