// Prints nothing itself: `node --import ./tools/module_hashes.mjs PROGRAM` appends to the file of MODULE_HASHES a line for each
// WebAssembly module that the program compiles: a hash of its types, imports, functions, exports, code and data. Custom sections,
// such as the names of functions, and modules above 256 KB, such as the compiler itself, do not count. A refactoring leaves
// `sort FILE | sha256sum` of the test programs unchanged; CONTRIBUTING.md shows how to compare.
import { createHash } from 'node:crypto';
import { appendFileSync } from 'node:fs';

const largest = 256 * 1024;
const file = process.env.MODULE_HASHES;

/** The end of an LEB128 number and its value. */
function readSize(bytes, from) {
  let value = 0;
  for (let at = from, shift = 0; ; ++at, shift += 7) {
    value += (bytes[at] & 127) * 2 ** shift;
    if (bytes[at] < 128) return [at + 1, value];
  }
}

function record(source) {
  const bytes = ArrayBuffer.isView(source)
    ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
    : new Uint8Array(source);
  if (bytes.length > largest) return;
  const hash = createHash('sha256');
  for (let at = 8; at < bytes.length;) {
    const id = bytes[at];
    const [begin, size] = readSize(bytes, at + 1);
    if (id !== 0) hash.update(bytes.subarray(at, begin + size));
    at = begin + size;
  }
  appendFileSync(file, `${hash.digest('hex')}\n`);
}

if (file) {
  const { Module, compile, instantiate } = WebAssembly;
  WebAssembly.Module = new Proxy(Module, {
    construct(target, [source], self) {
      record(source);
      return Reflect.construct(target, [source], self);
    },
  });
  WebAssembly.compile = (source, ...rest) => {
    record(source);
    return compile(source, ...rest);
  };
  WebAssembly.instantiate = (source, ...rest) => {
    if (!(source instanceof Module)) record(source);
    return instantiate(source, ...rest);
  };
}
