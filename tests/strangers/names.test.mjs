// Names, metadata, paths and errors of a file that steer the terminal, forge lines or hide: what the command prints shows them.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { inFolder, lathe, skip } from '../js/command.mjs';
import { model, node, value } from '../js/onnx/write.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
process.env.LATHE_NODE = process.execPath;

/** Each with how it must be printed. */
const hostile = {
  'escape sequences': ['\x1b]0;t\x07\x1b[2J', '\\x1b]0;t\\x07\\x1b[2J'],
  'a carriage return': ['a\rb', 'a\\rb'],
  'a forged line': ['a\nok: valid', 'a\\nok: valid'],
  'a line separator': ['a\u2028b\u2029', 'a\\u{2028}b\\u{2029}'],
  'bidirectional marks': ['a\u202Eb\u2066', 'a\\u{202e}b\\u{2066}'],
  'a control of C1': ['a\u009b31m', 'a\\u{9b}31m'],
  'a delete and a backspace': ['a\x7f\b', 'a\\x7f\\x08'],
  'zero-width characters': ['a\u200bb\ufeff\u2060', 'a\\u{200b}b\\u{feff}\\u{2060}'],
  'tag characters': ['a\u{e0041}', 'a\\u{e0041}'],
  'variation selectors': ['a\ufe01\u{e0101}', 'a\\u{fe01}\\u{e0101}'],
  'a soft hyphen': ['a\u00adb', 'a\\u{ad}b'],
  'letters and emoji': ['Größe 名前 🦀', 'Größe 名前 🦀'],
};
const hidden = /[^\P{C}\n]|[\p{Zl}\p{Zp}\u200b-\u200f\ufe00-\ufe0f]/u;

/** Calls with the words of a verb on a model that has the name everywhere: all that is printed. */
const onModel = (name, use) =>
  inFolder((folder) => {
    const bytes = model({
      nodes: [node('Neg', [name], [`${name}y`])],
      inputs: [value(name, 'float32', [name, 4])],
      outputs: [value(`${name}y`, 'float32', [name, 4])],
    });
    writeFileSync(join(folder, 'm.onnx'), bytes);
    writeFileSync(join(folder, 'x.bin'), new Uint8Array(16));
    return use((...words) => {
      const { stdout, stderr } = lathe(words, { cwd: folder });
      return { stdout: `${stdout}`, all: `${stdout}${stderr}` };
    });
  });

const verbs = [
  ['inspect', 'm.onnx'],
  ['run', 'm.onnx', `--package=${root}`, '--input=x.bin'],
  ['run', 'm.onnx', `--package=${root}`, '--input=other=x.bin'],
];
for (const [what, [name, printedName]] of Object.entries(hostile)) {
  for (const words of verbs) {
    test(`${words.slice(0, 1)} ${words.at(-1)}: ${what}`, { skip }, () =>
      onModel(name, (call) => {
        const { all } = call(...words);
        assert.doesNotMatch(all, hidden);
        assert.ok(all.includes(printedName), all);
        assert.doesNotMatch(all, /^ok: valid/m);
      }),
    );
  }
  test(`inspect --json escapes as JSON does: ${what}`, { skip }, () =>
    onModel(name, (call) => {
      const { stdout } = call('inspect', 'm.onnx', '--json');
      assert.doesNotMatch(stdout, hidden);
      assert.equal(JSON.parse(stdout).inputs[0].name, name);
    }),
  );
  test(`words of the command and paths: ${what}`, { skip }, () =>
    onModel(name, (call) => {
      for (const words of [
        [name],
        ['inspect', `${name}.wasm`],
        ['compile', 'm.onnx', `-${name}`],
      ]) {
        const { all } = call(...words);
        assert.doesNotMatch(all, hidden);
        assert.ok(all.includes(printedName), all);
      }
    }),
  );
}

test('bytes that are not UTF-8 are printed unchanged', { skip }, () =>
  inFolder((folder) => {
    const name = Buffer.from('\x9b\xc3(\xed\xa0\x80\xf8\xc0\xaf', 'latin1');
    const section = Buffer.concat([Buffer.of(name.length), name]);
    const head = Buffer.of(0, 97, 115, 109, 1, 0, 0, 0, 0, section.length);
    writeFileSync(join(folder, 'm.wasm'), Buffer.concat([head, section]));
    const { stdout, stderr } = lathe(['inspect', 'm.wasm'], { cwd: folder });
    // The decoder may reject the name; the output is UTF-8 in any case.
    const all = Buffer.concat([Buffer.from(stdout), Buffer.from(stderr)]);
    assert.doesNotThrow(() => new TextDecoder('utf-8', { fatal: true }).decode(all));
  }),
);

test('names like members of every object are names', { skip }, async () => {
  for (const name of ['constructor', 'toString', 'hasOwnProperty', 'valueOf', '__proto__']) {
    await onModel(name, (call) => {
      const { all } = call('run', 'm.onnx', `--package=${root}`, `--input=${name}=x.bin`);
      assert.ok(all.includes(`${name}y  float32 [1,4]`), all);
    });
  }
});
