#!/usr/bin/env python3
"""Fails when a C++ file is not as clang-format writes it, or a script or page as prettier does; --fix rewrites them."""
import pathlib
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parent.parent
fix = "--fix" in sys.argv[1:]
# Prettier reads only files that changed since it last ran.
CACHE = ["--cache", "--cache-strategy", "content", "--cache-location", "build/prettier"]
tools = [
    ({".h", ".cc"}, ["clang-format", "-i"] if fix else ["clang-format", "--dry-run", "-Werror"]),
    (
        {".ts", ".mjs", ".js", ".css", ".html"},
        ["node_modules/.bin/prettier", "--log-level", "warn", "--write" if fix else "--check", *CACHE],
    ),
]

listed = subprocess.run(
    ["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=root, capture_output=True, text=True, check=True
).stdout.splitlines()
failed = False
for suffixes, command in tools:
    files = [name for name in listed if pathlib.Path(name).suffix in suffixes and (root / name).is_file()]
    if files:
        failed |= subprocess.run(command + files, cwd=root).returncode != 0

print("format: run ./dev fmt" if failed else "format: as the formatters write it")
sys.exit(failed)
