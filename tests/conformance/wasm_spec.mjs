// Two steps of wasm_spec.sh: `manifest DIR` lists what wast2json wrote; `accept DIR` asks V8 to accept every module there.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

// What a command of the suite says about its module; commands that only call functions say nothing.
const kinds = {
  module: 'valid',
  assert_unlinkable: 'valid',
  assert_uninstantiable: 'valid',
  assert_malformed: 'malformed',
  assert_invalid: 'invalid',
};

function manifest(dir) {
  const leftOut = {};
  for (const name of readdirSync(dir).sort()) {
    const json = join(dir, name, `${name}.json`);
    for (const command of JSON.parse(readFileSync(json, 'utf8')).commands) {
      const kind = kinds[command.type];
      if (!kind) continue;
      if (command.module_type === 'text') {
        leftOut[kind] = (leftOut[kind] ?? 0) + 1;
        continue;
      }
      console.log(kind, `${name}.wast:${command.line}`, join(dir, name, command.filename));
    }
  }
  // We have no reader of the text format; what is wrong in text only is not for us to refuse.
  for (const [kind, count] of Object.entries(leftOut)) {
    console.error(`left out: ${count} ${kind} modules that the suite holds as text only`);
  }
}

function accept(dir) {
  let passed = 0;
  let failed = 0;
  for (const name of readdirSync(dir).filter((entry) => entry.endsWith('.wasm'))) {
    try {
      new WebAssembly.Module(readFileSync(join(dir, name)));
      ++passed;
    } catch (error) {
      ++failed;
      console.log(`FAILED ${name}: ${error.message}`);
    }
  }
  console.log(`V8 ${process.versions.v8}: ${passed} passed, ${failed} failed, 0 skipped`);
  if (failed > 0 || passed === 0) process.exit(1);
}

const [step, dir] = process.argv.slice(2);
if (step === 'manifest') manifest(dir);
else if (step === 'accept') accept(dir);
else process.exit(2);
