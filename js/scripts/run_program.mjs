import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** Runs a program of an npm package; exits if it fails. */
export async function runProgram(name, program, ...args) {
  const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`);
  const script = join(dirname(manifest), JSON.parse(readFileSync(manifest, 'utf8')).bin[program]);
  const [status] = await once(
    spawn(process.execPath, [script, ...args], { stdio: 'inherit' }),
    'exit',
  );
  if (status !== 0) process.exit(status ?? 1);
}
