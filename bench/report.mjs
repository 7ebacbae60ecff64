/** Medians, Markdown tables and the files in docs/benchmarks. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export { median } from './median.mjs';

/** A Markdown table; all columns but the first are numbers, so they align right. */
export function formatTable(heads, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [
    line(heads),
    line(heads.map((_, i) => (i === 0 ? '---' : '--:'))),
    ...rows.map(line),
  ].join('\n');
}

/** Writes NAME.json, NAME.md and a chart: to docs/benchmarks, or to build/bench when the run left something out. */
export function writeReport(name, { markdown, svg, ...result }, { partial }) {
  const folder = partial ? '../build/bench/' : '../docs/benchmarks/';
  const target = new URL(folder, import.meta.url);
  mkdirSync(target, { recursive: true });
  const { machine, date } = result;
  const chart = svg ? `\n![${name}](${name}.svg)\n` : '';
  const text = `# ${name}\n\nMade by \`./dev bench ${name}\` on ${date}: ${machine}.\n${chart}\n${markdown}\n`;
  writeFileSync(new URL(`${name}.md`, target), text);
  writeFileSync(new URL(`${name}.json`, target), `${JSON.stringify(result, rounded, 1)}\n`);
  if (svg) writeFileSync(new URL(`${name}.svg`, target), svg);
  console.log(`\nwritten: ${fileURLToPath(target)}${name}.md and .json`);
}

/** No figure is accurate to more than five digits. */
function rounded(_, value) {
  const isFraction = typeof value === 'number' && !Number.isInteger(value);
  return isFraction ? Number(value.toPrecision(5)) : value;
}
