// The published package in a folder of its own, without a network: the tarball that npm makes of build/package, unpacked.
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const built = fileURLToPath(new URL('../../build/package', import.meta.url));

/** Unpacks the tarball as node_modules/tensorlathe of a folder; returns its path there. */
export function installPacked(folder) {
  const target = join(folder, 'node_modules/tensorlathe');
  mkdirSync(target, { recursive: true });
  const [{ filename }] = JSON.parse(
    execFileSync('npm', ['pack', built, '--ignore-scripts', '--json'], {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  );
  execFileSync('tar', ['-xzf', join(folder, filename), '-C', target, '--strip-components=1']);
  return target;
}
