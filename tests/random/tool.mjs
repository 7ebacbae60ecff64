// The native tool that writes random programs, and what it wrote.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { RandomCase } from './case.mjs';

const tool = fileURLToPath(
  new URL('../../build/native/tests/random/random_cases', import.meta.url),
);

/** Writes cases into the folder; resolves with the lines it printed and whether it came to its end. */
export function write(folder, ...options) {
  return new Promise((done, failed) => {
    const child = spawn(tool, [folder, ...options]);
    let text = '';
    child.stdout.on('data', (part) => (text += part));
    child.stderr.on('data', (part) => (text += part));
    child.on('error', failed);
    child.on('close', (status) => {
      const lines = text.trimEnd().split('\n');
      done({ lines, ended: status === 0 || status === 1 });
    });
  });
}

export function* read(folder) {
  const text = readFileSync(join(folder, 'manifest.jsonl'), 'utf8');
  for (const line of text.split('\n').filter(Boolean)) {
    const parsed = JSON.parse(line);
    const { buffer, byteOffset, length } = readFileSync(join(folder, parsed.file));
    yield new RandomCase(parsed, buffer.slice(byteOffset, byteOffset + length));
  }
}
