// The accepted failures in expected_failures.txt and expected_failures_backend.txt: a line `# REASON`, then its specs, each as `FILE: NAME`.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

const unexplained = 'not yet explained';

const urlOf = (file) => new URL(file, import.meta.url);

/** The reason of every accepted failure. */
export function readExpected(file) {
  const url = urlOf(file);
  const reasons = new Map();
  let reason = '';
  for (const line of existsSync(url) ? readFileSync(url, 'utf8').split('\n') : []) {
    if (line.startsWith('# ')) reason = line.slice(2);
    else if (line.trim() !== '') reasons.set(line, reason);
  }
  return reasons;
}

/** Writes these failures with their existing reasons, and removes others that match `selected`. */
export function writeExpected(file, failed, selected) {
  const before = readExpected(file);
  const others = [...before.keys()].filter((key) => !selected.test(key));
  const groups = new Map();
  for (const key of new Set([...failed.map((each) => each.key), ...others])) {
    const reason = before.get(key) ?? unexplained;
    groups.set(reason, [...(groups.get(reason) ?? []), key]);
  }
  const parts = [...groups].map(([reason, keys]) => [`# ${reason}`, ...keys.sort(), ''].join('\n'));
  writeFileSync(urlOf(file), parts.sort().join('\n'));
}
