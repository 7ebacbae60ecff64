// Writes docs/operators.md: every operator of ONNX that can be imported (`lathe operators`), with the results of ONNX's test
// cases (tests/js/onnx). With --check it only reports whether the page is out of date.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { areNewest, readCases } from '../../tests/js/onnx/cases.mjs';

const at = (name) => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const page = at('docs/operators.md');
const expectedFailuresFile = at('tests/js/onnx/expected_failures.txt');

/** Names of many types at once, the larger sets first. */
const groups = {
  floats: 'float16 bfloat16 float32 float64',
  integers: 'uint8 int8 uint16 int16 int32 int64 uint32 uint64',
  'signed integers': 'int8 int16 int32 int64',
  'unsigned integers': 'uint8 uint16 uint32 uint64',
  '8-bit floats': 'float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz float8e8m0',
  'packed types': 'uint4 int4 float4e2m1 uint2 int2',
};

function typesText(list) {
  const left = new Set(list);
  const names = [];
  for (const [name, types] of Object.entries(groups)) {
    const all = types.split(' ');
    if (!all.every((each) => left.has(each))) continue;
    names.push(name);
    for (const each of all) left.delete(each);
  }
  return [...names, ...left].join(', ');
}

function readOperators() {
  const text = execFileSync(at('build/native/tools/lathe'), ['operators'], { encoding: 'utf8' });
  return text
    .trimEnd()
    .split('\n')
    .map((line) => {
      const [full, versions, types] = line.split(/ +/);
      const dot = full.lastIndexOf('.');
      const [since, last] = versions
        .split('-')
        .map((each) => (each === '' ? Infinity : Number(each)));
      return {
        domain: full.slice(0, dot),
        name: full.slice(dot + 1),
        since,
        last,
        types: types.split(','),
      };
    });
}

/** The reason by the name of the failing test case; undefined where the file does not exist. */
function readExpectedFailures() {
  if (!existsSync(expectedFailuresFile)) return undefined;
  const lines = readFileSync(expectedFailuresFile, 'utf8').split('\n');
  const entries = lines.filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(entries.map((line) => [line.split(': ')[0], line.slice(line.indexOf(': ') + 2)]));
}

/** The operators of a case: names with their domain, and the version of their set. */
function operatorsOf({ ops, opsets }) {
  return Object.keys(ops).map((op) => {
    const [name, domain = 'ai.onnx'] = op.split('::').reverse();
    return { domain, name, version: opsets[domain] ?? 1 };
  });
}

const cases = readCases();
if (!areNewest) {
  console.log(
    'operators: LATHE_DATA names no folder with the newest ONNX backend cases; the page stays as it is',
  );
  process.exit();
}
const expectedFailures = readExpectedFailures();
const operators = readOperators();
const find = ({ domain, name, version }) =>
  operators.find(
    (each) =>
      each.domain === domain && each.name === name && each.since <= version && version <= each.last,
  );

const missing = new Map();
for (const each of cases) {
  for (const used of operatorsOf(each)) {
    const row = find(used);
    if (row === undefined) {
      const name = `${used.domain}.${used.name}`;
      missing.set(name, [...(missing.get(name) ?? []), each.name]);
      continue;
    }
    row.cases = (row.cases ?? 0) + 1;
    row.passed = (row.passed ?? 0) + (expectedFailures?.has(each.name) ? 0 : 1);
    // A case without others of the same kind is about this operator: its first input is the operand.
    if (Object.keys(each.ops).length === 1 && each.inputs[0]?.dtype) {
      row.tested = (row.tested ?? new Set()).add(each.inputs[0].dtype);
    }
  }
}

const versionsText = ({ since, last }) => (last === Infinity ? `${since} –` : `${since} – ${last}`);
const escaped = (text) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');

function section(domain) {
  const rows = operators.filter((each) => each.domain === domain);
  rows.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.since - b.since));
  const lines = rows.map((row) => {
    const { name, types, cases: count = 0, passed = 0, tested = [] } = row;
    const kinds = types.filter((each) => [...tested].includes(each));
    const result = expectedFailures === undefined ? '–' : passed;
    const cells = [name, versionsText(row), typesText(types), count, result, typesText(kinds)];
    return `| ${cells.join(' | ')} |`;
  });
  return [
    `## ${domain}`,
    '',
    `${rows.length} rows. \`lathe operators\` prints them, too.`,
    '',
    '| operator | operator set | types of the first operand | cases | pass | types in the cases |',
    '|---|---|---|--:|--:|---|',
    ...lines,
    '',
  ];
}

const domains = [...new Set(operators.map(({ domain }) => domain))].sort();
const skipped = cases.filter(({ name }) => expectedFailures?.has(name));
const text = [
  '# Operators of ONNX',
  '',
  '<!-- Generated by tools/docs/operators.mjs; do not edit. -->',
  '',
  'What `tl.loadModel`, the drop-in for ONNX Runtime Web and `lathe` import. The semantics of an operator are those of its version: the',
  'operator sets are those from the first to the last number, without a last one all newer. Cases are those of ONNX',
  `itself (${cases.length}: its node tests, and models of several operators) in which the operator occurs; types in the cases`,
  'are those of the first input where a case has no other operator.',
  '',
  'Floats are float16, bfloat16, float32, float64; integers int8 to int64 and uint8 to uint64; 8-bit floats float8e4m3fn,',
  'float8e4m3fnuz, float8e5m2, float8e5m2fnuz, float8e8m0; packed types uint4, int4, uint2, int2, float4e2m1.',
  '',
  ...domains.flatMap(section),
  '## Cases that are skipped',
  '',
  expectedFailures === undefined
    ? 'Not recorded yet: `node tests/js/onnx/conformance.mjs --write-expected` does.'
    : `${skipped.length} of ${cases.length}, each with its reason.`,
  '',
  ...(skipped.length > 0 ? ['| case | why |', '|---|---|'] : []),
  ...skipped.map(({ name }) => `| ${name} | ${escaped(expectedFailures.get(name))} |`),
  ...(skipped.length > 0 ? [''] : []),
  '## Operators that are not there',
  '',
  `${missing.size} of the operators in the cases.`,
  '',
  ...(missing.size > 0 ? ['| operator | cases |', '|---|--:|'] : []),
  ...[...missing].sort().map(([name, all]) => `| ${name} | ${new Set(all).size} |`),
].join('\n');

if (!process.argv.includes('--check')) {
  writeFileSync(page, `${text.trimEnd()}\n`);
} else if (!existsSync(page) || readFileSync(page, 'utf8') !== `${text.trimEnd()}\n`) {
  console.error('docs/operators.md is not as `node tools/docs/operators.mjs` writes it');
  process.exitCode = 1;
}
