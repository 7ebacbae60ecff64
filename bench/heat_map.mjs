/** Tables of shares from 0 to 1 as colored squares, next to each other, as SVG. */

const cell = 34;
const left = 46;
const top = 58;
const gap = 40;
/** The line below the maps fits. */
const narrowest = 420;

const text = (x, y, content, { anchor = 'middle', size = 10, fill = '#444' } = {}) =>
  `<text x="${x}" y="${y}" text-anchor="${anchor}" font-family="sans-serif" font-size="${size}" fill="${fill}">${content}</text>`;

/** NaN: not measured. */
const percent = (share) => (Number.isNaN(share) ? '–' : Math.round(100 * share));

/** White at 0.3 and below, dark at 1. */
function color(share) {
  const depth = Math.max(0, ((share || 0) - 0.3) / 0.7);
  const mix = (from, to) => Math.round(from + (to - from) * depth);
  return `rgb(${mix(255, 26)},${mix(255, 82)},${mix(255, 118)})`;
}

function drawMap({ title, cells }, { rows, columns }, x0) {
  return [
    text(x0, 22, title, { anchor: 'start', size: 13 }),
    ...columns.map((width, j) => text(x0 + (j + 0.5) * cell, top - 8, width)),
    ...rows.map((height, i) => text(x0 - 12, top + (i + 0.6) * cell, height)),
    ...cells.flatMap((line, i) =>
      line.flatMap((share, j) => [
        `<rect x="${x0 + j * cell}" y="${top + i * cell}" width="${cell - 1}" height="${cell - 1}" fill="${color(share)}"/>`,
        text(x0 + (j + 0.5) * cell, top + (i + 0.6) * cell, percent(share), {
          fill: share > 0.75 ? 'white' : '#444',
        }),
      ]),
    ),
  ];
}

/** Rows of a table are tile rows, columns are tile columns. */
export function drawHeatMaps(maps, axes) {
  const mapWidth = axes.columns.length * cell + gap + left;
  const width = Math.max(maps.length * mapWidth, narrowest);
  const height = top + axes.rows.length * cell + 30;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">`,
    '<rect width="100%" height="100%" fill="white"/>',
    ...maps.flatMap((map, i) => drawMap(map, axes, left + i * mapWidth)),
    text(left, height - 10, 'rows (down) × columns (across) of the register tile; % of the best', {
      anchor: 'start',
    }),
    '</svg>',
    '',
  ].join('\n');
}
