// A plot of points in SVG: what is predicted over what it is, with axes and the line where both are equal.

const size = 300;
const margin = 44;
const spaceName = 'http://www.w3.org/2000/svg';

type Attributes = Record<string, string | number>;

/** A new SVG element. */
export function draw(tag: string, attributes: Attributes, text = ''): SVGElement {
  const made = document.createElementNS(spaceName, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.textContent = text;
  return made;
}

const compact = new Intl.NumberFormat('en', {
  notation: 'compact',
  maximumSignificantDigits: 4,
  useGrouping: false,
});

/** Round numbers that divide a range in about four. */
export function marks(low: number, high: number): number[] {
  const rough = (high - low) / 4 || 1;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * unit).find((each) => each >= rough)!;
  const first = Math.ceil(low / step);
  const count = Math.floor(high / step) - first + 1;
  return Array.from({ length: count }, (_, at) => +((first + at) * step).toPrecision(6));
}

export function scatter(
  truth: readonly number[],
  predicted: readonly number[],
  what: string,
): SVGElement {
  const all = [...truth, ...predicted].filter(Number.isFinite);
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const scale = (value: number) => ((value - low) / (high - low || 1)) * (size - 2 * margin);
  const x = (value: number) => margin + scale(value);
  const y = (value: number) => size - margin - scale(value);
  const made = draw('svg', {
    viewBox: `0 0 ${size} ${size}`,
    class: 'scatter',
    role: 'img',
    'aria-label': `Predicted ${what} over real ${what}, ${truth.length} points`,
  });
  for (const mark of marks(low, high)) {
    const [across, up] = [x(mark), y(mark)];
    made.append(
      draw('line', { class: 'grid-line', x1: across, x2: across, y1: margin, y2: size - margin }),
      draw('line', { class: 'grid-line', x1: margin, x2: size - margin, y1: up, y2: up }),
      draw(
        'text',
        { x: across, y: size - margin + 16, 'text-anchor': 'middle' },
        compact.format(mark),
      ),
      draw('text', { x: margin - 6, y: up + 4, 'text-anchor': 'end' }, compact.format(mark)),
    );
  }
  made.append(
    draw('line', { class: 'ideal', x1: x(low), y1: y(low), x2: x(high), y2: y(high) }),
    draw('text', { x: size / 2, y: size - 8, 'text-anchor': 'middle' }, `real ${what}`),
    draw('text', { x: margin, y: margin - 14 }, `predicted ${what}`),
    ...truth.map((value, at) => draw('circle', { cx: x(value), cy: y(predicted[at]!), r: 2.5 })),
  );
  return made;
}
