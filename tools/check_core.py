#!/usr/bin/env python3
"""Prints the raw and gzip size of the core module and fails when it imports anything: it must start anywhere."""
import gzip
import pathlib
import sys

IMPORT_SECTION = 2


def sections(module):
    """Yields (id, payload) of each section of a WebAssembly binary."""
    at = 8
    while at < len(module):
        section, at = module[at], at + 1
        size = shift = 0
        while True:
            byte, at = module[at], at + 1
            size |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        yield section, module[at : at + size]
        at += size


path = pathlib.Path(sys.argv[1])
module = path.read_bytes()
for section, payload in sections(module):
    if section == IMPORT_SECTION and payload[0] != 0:
        names = "".join(chr(b) if 32 <= b < 127 else " " for b in payload[1:])
        path.unlink()
        sys.exit(f"{path.name} must not import anything, but does: {' '.join(names.split())}")
print(f"{path.name}: {len(module):,} bytes, gzip {len(gzip.compress(module, 9)):,} bytes")
