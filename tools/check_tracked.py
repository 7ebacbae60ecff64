#!/usr/bin/env python3
"""Fails when something tracked does not belong to the project: copies of third-party code, built files, large blobs, npm
versions that are not exact, or registry addresses in the lock file."""
import json
import pathlib
import re
import subprocess
import sys

LARGEST = 1 << 20
FOREIGN = {"node_modules", "third_party", "thirdparty", "vendor", "external", "dist", "build"}

root = pathlib.Path(__file__).resolve().parent.parent
listed = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True, check=True).stdout.splitlines()
files = [name for name in listed if (root / name).is_file()]
problems = []
for name in files:
    if FOREIGN & set(name.split("/")[:-1]) or name.endswith(".min.js"):
        problems.append(f"{name}: third-party and built files come from Debian, npm or the build, not from git")
    if (root / name).stat().st_size > LARGEST:
        problems.append(f"{name}: larger than {LARGEST} bytes")
    if pathlib.Path(name).name == "package.json":
        manifest = json.loads((root / name).read_text())
        for kind in ("dependencies", "devDependencies", "optionalDependencies"):
            for package, version in manifest.get(kind, {}).items():
                if not re.fullmatch(r"\d+\.\d+\.\d+[-+.\w]*|\*|npm:.+@\d+\.\d+\.\d+", version):
                    problems.append(f"{name}: {package} {version} is not one exact version")
    if pathlib.Path(name).name == "package-lock.json" and '"resolved": "http' in (root / name).read_text():
        problems.append(f"{name}: remove the resolved addresses (npm config omit-lockfile-registry-resolved)")

print("\n".join(problems) or f"tracked: {len(files)} files, all from this repository")
sys.exit(bool(problems))
