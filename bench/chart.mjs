/** A horizontal bar chart as SVG: for each row one bar per peer, its speed over that of the fastest competitor. */
import { peers } from './peers.mjs';

const colors = {
  tensorlathe: '#c0392b',
  solo: '#f2c4bf',
  before: '#6e2c00',
  wide: '#e58e85',
  litert: '#2980b9',
  tfjs: '#e69f00',
  onnxruntime: '#7f8c8d',
  jax: '#27ae60',
  convnetjs: '#8e44ad',
  openblas: '#34495e',
};
const barHeight = 9;
const rowGap = 8;
const left = 190;
const plotWidth = 640;
const top = 64;
const legendLeft = 12;
const legendStep = 128;
/** Longer bars are truncated; their label has the value. */
const longest = 5;

const escape = (text) =>
  text.replace(/[&<>]/g, (each) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[each]);
const text = (x, y, content, { anchor = 'start', size = 11, weight = 'normal' } = {}) =>
  `<text x="${x.toFixed(1)}" y="${y}" text-anchor="${anchor}" font-family="sans-serif" font-size="${size}" font-weight="${weight}" fill="#444">${escape(content)}</text>`;
const box = (x, y, width, height, fill) =>
  `<rect x="${x}" y="${y}" width="${width.toFixed(1)}" height="${height}" fill="${fill}"/>`;

export function drawChart(title, { title: engine, names, rows }) {
  const maxSpeed = Math.max(
    1,
    ...rows.flatMap(({ speeds }) => names.map((name) => speeds[name] ?? 0)),
  );
  const scale = plotWidth / Math.min(maxSpeed, longest);
  const rowHeight = names.length * barHeight + rowGap;
  const height = top + rows.length * rowHeight + 10;
  const bars = rows.flatMap(({ name, speeds }, i) => {
    const y = top + i * rowHeight;
    const middle = y + (names.length * barHeight) / 2 + 4;
    return [
      text(left - 8, middle, name, { anchor: 'end' }),
      ...names.flatMap((peer, j) => {
        const speed = speeds[peer];
        if (!speed) return [];
        const at = y + j * barHeight;
        const width = Math.min(speed, longest) * scale;
        return [
          box(left, at, width, barHeight - 1, colors[peer]),
          text(left + width + 4, at + barHeight - 1, speed.toFixed(2), { size: 8 }),
        ];
      }),
    ];
  });
  const legend = names.flatMap((name, i) => [
    box(legendLeft + i * legendStep, 34, 9, 9, colors[name]),
    text(legendLeft + i * legendStep + 13, 42, peers[name].title),
  ]);
  const reference = left + scale;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${left + plotWidth + 60}" height="${height}">`,
    '<rect width="100%" height="100%" fill="white"/>',
    text(12, 20, `${title}: speed over the fastest other peer, ${engine}`, {
      weight: 'bold',
    }),
    ...legend,
    `<line x1="${reference}" x2="${reference}" y1="${top - 6}" y2="${height - 8}" stroke="#999" stroke-dasharray="3 3"/>`,
    ...bars,
    '</svg>',
    '',
  ].join('\n');
}
