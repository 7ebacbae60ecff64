#!/usr/bin/env python3
"""Fails when a folder of src/ includes, or links in CMake, a folder that tools/layers.txt does not grant it."""
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent
source = root / "src"
problems = []


def read_layers():
    """Returns {folder: folders it may include}; a grant must be declared above its use, so cycles cannot be written."""
    layers = {}
    for line in (root / "tools/layers.txt").read_text().splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        folder, grants = (part.strip() for part in line.split(":"))
        for grant in grants.split():
            if grant not in layers:
                problems.append(f"tools/layers.txt: {folder} is granted {grant}, which no line above declares")
        layers[folder] = {folder, *grants.split()}
    return layers


layers = read_layers()


def layer_of(path):
    """The declared folder that a path such as emit/wasm/expr.h lies in; the longest name wins."""
    parts = path.split("/")[:-1]
    names = ["/".join(parts[:count]) for count in range(len(parts), 0, -1)]
    return next((name for name in names if name in layers), None)


for path in sorted(source.rglob("*")):
    name = str(path.relative_to(source))
    if path.suffix not in {".h", ".cc", ".def"} and not (path.name == "CMakeLists.txt" and "/" in name):
        continue
    folder = layer_of(name)
    if folder is None:
        problems.append(f"src/{name}: its folder has no line in tools/layers.txt")
        continue
    text = path.read_text()
    for number, line in enumerate(text.splitlines(), 1):
        if include := re.match(r'\s*#\s*include\s+"([^"]+)"', line):
            target = layer_of(include[1])
            if target is None:
                problems.append(f"src/{name}:{number}: \"{include[1]}\" does not start with a folder of src/")
            elif target not in layers[folder]:
                problems.append(f"src/{name}:{number}: {folder} may not include {target}")
    if path.name == "CMakeLists.txt":
        for dependencies in re.findall(r"lathe_library\([^)]*\bDEPS\s+([^)]*)\)", text):
            for target in dependencies.split():
                if target not in layers[folder]:
                    problems.append(f"src/{name}: {folder} may not link {target}")

print("\n".join(problems) or f"layers: {len(layers)} folders keep to their grants")
sys.exit(bool(problems))
