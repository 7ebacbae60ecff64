#!/usr/bin/env python3
"""
Fails when a .cc file is not named by the nearest CMakeLists.txt above it, or by the wasm32 core: it would never be built.
"""
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent
core = (root / "cmake/wasm_core.cmake").read_text()
problems = []
count = 0
for top in ("src", "tests", "tools", "examples"):
    for path in sorted(path for path in (root / top).rglob("*.cc") if "node_modules" not in path.parts):
        count += 1
        name = str(path.relative_to(root))
        folder = next(folder for folder in path.parents if (folder / "CMakeLists.txt").exists())
        listing = folder / "CMakeLists.txt"
        words = re.split(r"[\s()]+", listing.read_text())
        if str(path.relative_to(folder)) not in words and name not in core:
            problems.append(f"{name}: {listing.relative_to(root)} does not name it")

print("\n".join(problems) or f"sources: {count} files are all named in CMake")
sys.exit(bool(problems))
