// The shortest beginning of a random program that is still wrong.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { read, write } from './tool.mjs';

// Of graphs: those of models are long.
const maxLines = 80;

/** A report of it: the command to reproduce it, the error, and its graphs. */
export async function shrunk(name, problemOf, more = []) {
  const [kind, seed] = name.split('_');
  const folder = mkdtempSync(join(tmpdir(), 'random-'));
  try {
    for (let steps = 1; ; steps++) {
      const options = [
        `--${kind}s=${seed}..${Number(seed) + 1}`,
        `--steps=${steps}`,
        '--show',
        ...more,
      ];
      const { lines, ended } = await write(folder, ...options);
      if (!ended || steps > 40) return `random_cases FOLDER ${options.join(' ')}: not shrunk`;
      for (const test of read(folder)) {
        const problem = await problemOf(test);
        if (!problem) continue;
        const printed = lines.slice(0, Math.min(lines.length - 2, maxLines)).join('\n');
        return `  random_cases FOLDER ${options.join(' ')}\n  (${problem[0]}): ${problem[1]}\n${printed}`;
      }
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}
