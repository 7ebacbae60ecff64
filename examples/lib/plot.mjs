// Draws curves over epochs as SVG: panels side by side, each with its axes and lines.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

const colours = ['#c0392b', '#2980b9', '#27ae60', '#e69f00'];
const panel = { width: 360, height: 240, left: 56, right: 16, top: 56, bottom: 40 };

/**
 * Writes the file and the folders above it. Panels are {title, lines: [{name, values}]}, with one value per epoch; those that are
 * no finite numbers are left out.
 */
export function writePlot(path, title, panels) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, drawPlot(title, panels));
  console.log(`plot: ${path}`);
}

/** The SVG. */
export function drawPlot(title, panels) {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${panels.length * panel.width}" height="${panel.height}">`,
    '<rect width="100%" height="100%" fill="white"/>',
    text(12, 20, title, 'start', 'bold'),
    ...panels.flatMap((each, at) => [
      `<g transform="translate(${at * panel.width} 0)">`,
      ...drawPanel(each),
      '</g>',
    ]),
    '</svg>',
    '',
  ].join('\n');
}

function drawPanel({ title, lines }) {
  const values = lines.flatMap((line) => line.values.filter(Number.isFinite));
  const epochs = Math.max(...lines.map((line) => line.values.length), 1);
  const step = tickStep(Math.max(...values) - Math.min(...values));
  const low = Math.floor(Math.min(...values) / step) * step;
  const high = Math.max(Math.ceil(Math.max(...values) / step) * step, low + step);
  const [right, bottom] = [panel.width - panel.right, panel.height - panel.bottom];
  const x = (epoch) => panel.left + ((epoch - 1) / Math.max(epochs - 1, 1)) * (right - panel.left);
  const y = (value) => bottom - ((value - low) / (high - low)) * (bottom - panel.top);
  const ticks = Array.from(
    { length: Math.round((high - low) / step) + 1 },
    (_, i) => low + i * step,
  );
  const digits = Math.max(0, -Math.floor(Math.log10(step)));
  const every = Math.ceil(epochs / 10);
  return [
    ...ticks.flatMap((tick) => [
      `<path d="M${panel.left} ${y(tick).toFixed(1)}H${right}" stroke="#ddd"/>`,
      text(panel.left - 6, y(tick) + 4, tick.toFixed(digits), 'end'),
    ]),
    ...Array.from({ length: epochs }, (_, i) => i + 1)
      .filter((epoch) => (epoch - 1) % every === 0)
      .map((epoch) => text(x(epoch), bottom + 16, epoch, 'middle')),
    text((panel.left + right) / 2, bottom + 32, 'epoch', 'middle'),
    ...lines.flatMap((line, at) => drawLine(line, colours[at % colours.length], x, y, at)),
    text(right, panel.top - 20, title, 'end', 'bold'),
  ];
}

function drawLine({ name, values }, colour, x, y, at) {
  const points = values
    .map((value, epoch) => [x(epoch + 1), y(value)])
    .filter(([, height]) => Number.isFinite(height))
    .map((point) => point.map((each) => each.toFixed(1)));
  const left = panel.left + at * 78;
  const legend = panel.top - 8;
  return [
    `<polyline points="${points.join(' ')}" fill="none" stroke="${colour}" stroke-width="1.5"/>`,
    ...points.map(([cx, cy]) => `<circle cx="${cx}" cy="${cy}" r="2" fill="${colour}"/>`),
    `<path d="M${left} ${legend - 4}h12" stroke="${colour}" stroke-width="2"/>`,
    text(left + 16, legend, name),
  ];
}

/** 1, 2 or 5 times a power of ten, so that some five steps make the range. */
function tickStep(range) {
  const rough = (range || 1) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * [1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999);
}

function text(x, y, content, anchor = 'start', weight = 'normal') {
  const escaped = String(content).replace(/[&<]/g, (each) => (each === '&' ? '&amp;' : '&lt;'));
  const style = `font-family="sans-serif" font-size="11" font-weight="${weight}" fill="#444"`;
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}" ${style}>${escaped}</text>`;
}
