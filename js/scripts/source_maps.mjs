// Source maps of bundles: from the TypeScript sources, which the package has in src, past replacements in the code.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** The number at the begin of a segment of mappings, in VLQ of base 64, and how many letters it has. */
function readNumber(segment) {
  let [value, length, digit] = [0, 0, 0];
  do {
    digit = digits.indexOf(segment[length]);
    value += (digit & 31) << (5 * length);
    ++length;
  } while (digit & 32);
  return [value & 1 ? -(value >> 1) : value >> 1, length];
}

function writeNumber(value) {
  let rest = value < 0 ? (-value << 1) | 1 : value << 1;
  let text = '';
  do {
    const digit = rest & 31;
    rest >>= 5;
    text += digits[rest > 0 ? digit | 32 : digit];
  } while (rest > 0);
  return text;
}

/** The mappings of a line after edits, each [column, removed length, inserted length], in order. */
function moved(segments, edits) {
  let [column, written, shift, next] = [0, 0, 0, 0];
  return segments
    .split(',')
    .filter(Boolean)
    .map((segment) => {
      const [step, length] = readNumber(segment);
      column += step;
      for (; next < edits.length && edits[next][0] + edits[next][1] <= column; ++next)
        shift += edits[next][2] - edits[next][1];
      // What was within a replaced part is at its begin.
      const begin = next < edits.length ? Math.min(column, edits[next][0]) : column;
      const before = written;
      written = begin + shift;
      return writeNumber(written - before) + segment.slice(length);
    })
    .join(',');
}

/** Replaces in a file of the bundle, and in its source map; with one, matches and replacements may not have line breaks. */
export function replaceIn(files, file, pattern, replacement) {
  const map = files[`${file.fileName}.map`];
  if (map === undefined) {
    file.code = file.code?.replace(pattern, replacement);
    return;
  }
  const json = JSON.parse(map.source);
  const mappings = json.mappings.split(';');
  const lines = file.code.split('\n').map((line, at) => {
    const edits = [];
    const replaced = line.replace(pattern, (match, ...rest) => {
      const text = typeof replacement === 'string' ? replacement : replacement(match, ...rest);
      const column = rest.find((each) => typeof each === 'number');
      if (text.includes('\n')) throw new Error(`a line break in place of ${match}`);
      edits.push([column, match.length, text.length]);
      return text;
    });
    if (mappings[at] && edits.length > 0) mappings[at] = moved(mappings[at], edits);
    return replaced;
  });
  file.code = lines.join('\n');
  map.source = JSON.stringify({ ...json, mappings: mappings.join(';') });
}

/** A plugin that reads modules with the maps of the TypeScript compiler. */
export const mapped = {
  name: 'mapped',
  load(id) {
    if (!existsSync(`${id}.map`)) return null;
    const code = readFileSync(id, 'utf8').replace(/\n\/\/# sourceMappingURL=.*\n?$/, '\n');
    return { code, map: JSON.parse(readFileSync(`${id}.map`, 'utf8')) };
  },
};

/** Writes a map whose sources are those in the folder `src` of the package. */
export function relocate(file, target) {
  const map = JSON.parse(readFileSync(file, 'utf8'));
  const inPackage = (source) => source.replace(/^.*?\bjs\/src\//, join(target, 'src/'));
  map.sources = map.sources.map((source) =>
    /\bjs\/src\//.test(source) ? relative(dirname(file), inPackage(source)) : source,
  );
  delete map.sourcesContent;
  writeFileSync(file, JSON.stringify(map));
}
