// The accepted failures in known.txt and known_backend.txt: a line `# REASON`, and below it the specs it holds for, each as `FILE: NAME`.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

const unexplained = 'not yet explained';

const placeOf = (file) => new URL(file, import.meta.url);

/** The reason of every accepted failure. */
export function readKnown(file) {
  const place = placeOf(file);
  const known = new Map();
  let reason = '';
  for (const line of existsSync(place) ? readFileSync(place, 'utf8').split('\n') : []) {
    if (line.startsWith('# ')) reason = line.slice(2);
    else if (line.trim() !== '') known.set(line, reason);
  }
  return known;
}

/** Lists these failures with the reasons there are, and no other of those that match `wanted`. */
export function writeKnown(file, failed, wanted) {
  const before = readKnown(file);
  const others = [...before.keys()].filter((key) => !wanted.test(key));
  const groups = new Map();
  for (const key of new Set([...failed.map((each) => each.key), ...others])) {
    const reason = before.get(key) ?? unexplained;
    groups.set(reason, [...(groups.get(reason) ?? []), key]);
  }
  const parts = [...groups].map(([reason, keys]) => [`# ${reason}`, ...keys.sort(), ''].join('\n'));
  writeFileSync(placeOf(file), parts.sort().join('\n'));
}
