// The table of every name of TensorFlow.js Layers, for the guide: same, different, not there. It knows the comparison of the tests.
import { comparedNames } from '../../tests/js/compare_layers.mjs';

/** The name within what it is of: `layers.gru({cell})` -> cell. */
const short = (name) => name.replace(/^\w+: |^.*\{|\}\)?$/g, '');

/** A row for each function, class and set of options. */
export function tableOfNames() {
  const groups = new Map();
  for (const { name, of, isThere } of comparedNames()) {
    const group = groups.get(of) ?? { isThere: true, missing: [], has: 0 };
    groups.set(of, group);
    if (name === of) group.isThere &&= isThere;
    else if (isThere) ++group.has;
    else group.missing.push(short(name));
  }
  const code = (name) => `\`${name}\``;
  const state = ({ isThere, missing }) => {
    if (!isThere) return 'not there';
    return missing.length === 0
      ? 'same'
      : `different: missing ${missing.sort().map(code).join(', ')}`;
  };
  const rows = [...groups]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([name, group]) => ({ name, state: state(group) }));
  const count = (pattern) => rows.filter((row) => pattern.test(row.state)).length;
  return [
    `Of ${rows.length} functions, classes and sets of options ${count(/^same/)} are the same, ${count(/^different/)} miss ` +
      `something, ${count(/^not/)} are not there. Operations on tensors are not in this table.`,
    '',
    '| name there | here |',
    '|---|---|',
    ...rows.map((row) => `| ${code(row.name)} | ${row.state} |`),
    '',
  ].join('\n');
}
