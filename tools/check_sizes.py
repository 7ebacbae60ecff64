#!/usr/bin/env python3
"""Fails when a source file has more than 600 lines and tools/size_exempt.txt has no reason for it. Tables are exempt."""
import pathlib
import subprocess
import sys

LIMIT = 600
SUFFIXES = {".h", ".cc", ".py", ".sh", ".ts", ".mjs", ".js", ".css", ".html"}

root = pathlib.Path(__file__).resolve().parent.parent
exempt = {}
for line in (root / "tools/size_exempt.txt").read_text().splitlines():
    if line.strip() and not line.startswith("#"):
        name, _, reason = line.partition(":")
        exempt[name.strip()] = reason.strip()

problems = [f"tools/size_exempt.txt: {name} needs a reason" for name, reason in exempt.items() if not reason]
listed = subprocess.run(
    ["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=root, capture_output=True, text=True, check=True
).stdout.splitlines()
files = [name for name in listed if pathlib.Path(name).suffix in SUFFIXES and (root / name).is_file()]
oversized = set()
for name in files:
    lines = (root / name).read_text().count("\n")
    if lines > LIMIT:
        oversized.add(name)
        if name not in exempt:
            problems.append(f"{name}: {lines} lines; split it, or add a reason in tools/size_exempt.txt")
problems += [f"tools/size_exempt.txt: {name} is not over {LIMIT} lines" for name in sorted(exempt.keys() - oversized)]

print("\n".join(problems) or f"sizes: {len(files)} files, none over {LIMIT} lines without a reason")
sys.exit(bool(problems))
