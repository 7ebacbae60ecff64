/** The history of a training as line charts: one for each metric, with its validation. */
import { Figure } from './figure.js';
import { brief, isPlottable, statistics, ticksOf } from './numbers.js';
import { element, rounded, svgImage, textAt, tooltip } from './svg.js';

/** What `fit` resolves to. */
export interface HistoryLike {
  /** Epoch indices, from 0. */
  epoch?: readonly number[];
  history: Readonly<Record<string, readonly unknown[] | undefined>>;
}

interface Line {
  name: string;
  values: readonly number[];
}

const panel = { width: 380, height: 230, left: 58, right: 16, top: 42, bottom: 34 };
const kinds = ['first', 'second dashed'];
const dots = ['●', '○'];
/** The same in blue, orange and red. */
const colored: Readonly<Record<string, string>> = {
  '●': '\x1b[34m●\x1b[39m',
  '○': '\x1b[33m○\x1b[39m',
  '×': '\x1b[31m×\x1b[39m',
};
const most = 200; // points of a line that are drawn

/** Charts of metrics whose values are numbers: the metric, then its validation. */
function chartsOf({ history }: HistoryLike): Line[][] {
  const lines = Object.entries(history).flatMap(([name, values]): Line[] =>
    values?.every((each) => typeof each === 'number') === true ? [{ name, values }] : [],
  );
  const stems = [...new Set(lines.map(({ name }) => name.replace(/^val_/, '')))];
  return stems.map((stem) =>
    [stem, `val_${stem}`].flatMap((name) => lines.filter((line) => line.name === name)),
  );
}

/** Its last value, and how many are not finite. */
function legendOf({ name, values }: Line): string {
  const { others } = statistics(values);
  const last = values.length === 0 ? 'no value' : brief(values.at(-1)!);
  return `${name} ${last}${others > 0 ? `, ${others} not finite` : ''}`;
}

/** Indices of the points to draw: of long lines the extremes of each stretch. */
function sampled(values: readonly number[]): number[] {
  if (values.length <= most) return [...values.keys()];
  const found = new Set([0, values.length - 1]);
  for (let part = 0; part < most / 2; ++part) {
    const begin = Math.floor((part * values.length) / (most / 2));
    const end = Math.floor(((part + 1) * values.length) / (most / 2));
    let [low, high] = [begin, begin];
    for (let at = begin; at < end; ++at) {
      if (!isPlottable(values[at]!)) found.add(at);
      if (values[at]! < values[low]!) low = at;
      if (values[at]! > values[high]!) high = at;
    }
    found.add(low).add(high);
  }
  return [...found].sort((a, b) => a - b);
}

function drawChart(lines: readonly Line[], epochs: readonly number[]): string[] {
  const { low, high } = statistics(lines.flatMap(({ values }) => [...values]));
  const pad = low === high ? Math.abs(low) / 10 || 1 : 0;
  const ticks = low <= high ? ticksOf(low - pad, high + pad) : [0, 1];
  const [bottom, right] = [panel.height - panel.bottom, panel.width - panel.right];
  const [first, last] = [epochs[0] ?? 1, epochs.at(-1) ?? 1];
  const x = (at: number) =>
    first === last
      ? (panel.left + right) / 2
      : panel.left + (((epochs[at] ?? last) - first) / (last - first)) * (right - panel.left);
  const [from, to] = [ticks[0]!, ticks.at(-1)!];
  const y = (value: number) => bottom - ((value - from) / (to - from)) * (bottom - panel.top);
  const apart = (last - first) / 8;
  const inner = ticksOf(first, last, 6).filter(
    (each) => Number.isInteger(each) && each >= first + apart && each <= last - apart,
  );
  const marks = first === last ? [first] : [first, ...inner, last];
  const parts = [
    ...ticks.flatMap((tick) => [
      element('path', { class: 'grid', d: `M${panel.left} ${rounded(y(tick))}H${right}` }),
      textAt(panel.left - 6, y(tick) + 4, brief(tick), 'faint', 'end'),
    ]),
    ...marks.map((epoch) => {
      const share = first === last ? 0.5 : (epoch - first) / (last - first);
      return textAt(panel.left + share * (right - panel.left), bottom + 16, epoch, 'faint', 'middle'); // prettier-ignore
    }),
    textAt((panel.left + right) / 2, bottom + 29, 'epoch', 'faint', 'middle'),
  ];
  for (const [index, line] of lines.entries()) {
    const kind = kinds[index]!;
    let path = '';
    let isPen = false;
    for (const at of sampled(line.values)) {
      const value = line.values[at]!;
      const here = `${rounded(x(at))} ${isPlottable(value) ? rounded(y(value)) : bottom - 4}`;
      if (isPlottable(value)) path += `${isPen ? 'L' : 'M'}${here}`;
      else parts.push(crossAt(x(at), bottom - 4, `${line.name}: ${value} in epoch ${epochs[at]}`));
      isPen = isPlottable(value);
      // A point between gaps has no line.
      const isAlone = isPen && ![at - 1, at + 1].some((each) => isPlottable(line.values[each]!));
      if (isAlone || (isPen && line.values.length <= 30)) {
        const [cx, cy] = here.split(' ');
        parts.push(element('circle', { class: `dot ${kind}`, cx: cx!, cy: cy!, r: 2.5 }));
      }
    }
    if (path !== '') parts.push(element('path', { class: `line ${kind}`, d: path }));
    const legend = legendOf(line);
    parts.push(
      element('path', { class: `line ${kind}`, d: `M${panel.left} ${10 + 16 * index}h16` }),
    );
    parts.push(textAt(panel.left + 22, 14 + 16 * index, legend));
  }
  return parts;
}

const crossAt = (x: number, y: number, title: string): string =>
  element('g', {}, tooltip(title), textAt(x, y, '×', 'wrong', 'middle'));

/** Dots on `width` × `height` characters, with the range on the left. */
function printChart(
  lines: readonly Line[],
  epochs: readonly number[],
  width = 60,
  height = 10,
): string {
  // prettier-ignore
  const { low, high } = statistics(lines.flatMap(({ values }) => [...values]));
  const rows = Array.from({ length: height }, () => new Array<string>(width).fill(' '));
  for (const [index, { values }] of [...lines.entries()].reverse()) {
    for (const [at, value] of values.entries()) {
      const isDot = isPlottable(value);
      const share = isDot && high > low ? (value - low) / (high - low) : 0;
      const column = Math.round((at * (width - 1)) / Math.max(epochs.length - 1, 1));
      rows[Math.round((1 - share) * (height - 1))]![column] = isDot ? dots[index]! : '×';
    }
  }
  const labels = rows.map((_, at) => {
    if (!(low < high)) return at === height - 1 && low === high ? brief(low) : '';
    return at % 3 === 0 ? brief(low + (1 - at / (height - 1)) * (high - low)) : '';
  });
  const margin = Math.max(...labels.map((each) => each.length));
  const [first = 1] = epochs;
  const end = String(epochs.at(-1) ?? first);
  return [
    lines.map((line, index) => `${dots[index]} ${legendOf(line)}`).join('   '),
    ...rows.map((row, at) => {
      const axis = labels[at] === '' ? '│' : '┤';
      return `${labels[at]!.padStart(margin)} ${axis}${row.join('')}`.trimEnd();
    }),
    `${' '.repeat(margin)} └${'─'.repeat(width)}`,
    `${' '.repeat(margin + 2)}${String(first).padEnd(width - end.length)}${epochs.length > 1 ? end : ''} epoch`, // prettier-ignore
  ].join('\n');
}

/** The figure of a history; `title` is above it. */
export function showHistory(value: HistoryLike, title: string): Figure {
  const charts = chartsOf(value);
  const longest = Math.max(0, ...charts.flat().map(({ values }) => values.length));
  const epochs = Array.from({ length: longest }, (_, at) => (value.epoch?.[at] ?? at) + 1);
  const columns = Math.min(Math.max(charts.length, 1), 2);
  const height = Math.max(1, Math.ceil(charts.length / columns)) * panel.height;
  const drawn = charts.map((lines, at) => {
    const [x, y] = [(at % columns) * panel.width, Math.floor(at / columns) * panel.height + 36];
    return element('g', { transform: `translate(${x} ${y})` }, ...drawChart(lines, epochs));
  });
  const count = `${title}: ${epochs.length === 0 ? 'no epochs' : `${epochs.length} epoch${epochs.length > 1 ? 's' : ''}`}`; // prettier-ignore
  const isEmpty = longest === 0;
  const svg = svgImage(columns * panel.width, isEmpty ? 44 : height + 36, count, [
    textAt(14, 24, count, 'title'),
    ...(isEmpty ? [] : drawn),
  ]);
  const printed = isEmpty ? [] : charts.map((lines) => printChart(lines, epochs));
  const text = [count, ...printed].join('\n\n');
  return new Figure(
    text,
    svg,
    svg,
    text.replace(/[●○×]/g, (each) => colored[each]!),
  );
}
