// A live picture of the network: its layers, and how the example at hand flows through them.
import { type Activation, activationsOf, releaseProbe } from '../activations';
import { isImage, isPlane } from '../data/data_set';
import { box, button, canvas, formatShape, onThemeChange, show, theme } from '../dom';
import { isRow } from '../network';
import { state, watch } from '../store';
import { listen } from '../training';
import { type Column, type Flow, flowsBetween, isHidden, place } from './picture_layout';

const picture = canvas('picture-canvas');
/** Milliseconds of the way from the first column to the last, and between two pictures while it learns. */
const flowMs = 1400;
const restMs = 120;
const titleHeight = 40;

let isSeen = false;
let isDue = false;
let lastDrawn = 0;
/** When the flow began, or 0: it is through. */
let begun = 0;

const prefersRest = () => matchMedia('(prefers-reduced-motion: reduce)').matches;

/** The names of the input's features, where they have any. */
function inputLabels(): string[] | undefined {
  const { data } = state;
  if (data === undefined || isImage(data)) return undefined;
  if (isPlane(data)) return ['across', 'up'];
  return data.columns?.flatMap((column) =>
    column.kind === 'number' ? [column.name] : column.words.map((word) => `${column.name} ${word}`),
  );
}

function columnOf({ layer, className, shape, values }: Activation, isLast: boolean) {
  const isDense = className === 'Dense' && isRow(state.network) && shape.length === 1;
  const kernel = isDense ? (layer.getWeights()[0]?.dataSync() as Float32Array) : undefined;
  const labels = isLast ? state.data?.classes : undefined;
  return {
    title: className,
    shape,
    values,
    ...(kernel === undefined ? {} : { kernel }),
    ...(labels === undefined ? {} : { labels }),
  };
}

/** The columns with what the network computes now; before the first training, without values. */
function columns(): Omit<Column, 'tiles' | 'x'>[] {
  const { data, trained, checked, example } = state;
  if (data === undefined) return [];
  const labels = inputLabels();
  const input = {
    title: 'Input',
    shape: data.shape,
    values: example ?? [],
    ...(labels === undefined ? {} : { labels }),
  };
  if (trained === undefined || example === undefined) {
    const layers = (checked?.layers ?? []).filter(
      ({ class: className, shape }) =>
        shape !== undefined && !isHidden({ className } as Activation),
    );
    const last = layers.length - 1;
    return [
      input,
      ...layers.map(({ class: title, shape }, at) => ({
        title,
        shape: shape!,
        values: [],
        ...(at === last && data.classes !== undefined ? { labels: data.classes } : {}),
      })),
    ];
  }
  const all = activationsOf(trained.model, example);
  const last = all.length - 1;
  const shown = all.map((each, at) => ({ each, isLast: at === last }));
  return [
    input,
    ...shown
      .filter(({ each }) => !isHidden(each))
      .map(({ each, isLast }) => columnOf(each, isLast)),
  ];
}

/** The values of a column as color: strong where they are far from 0. */
function drawTiles(context: CanvasRenderingContext2D, { tiles, values }: Column): void {
  let largest = 1e-9;
  for (let at = 0; at < values.length; ++at) largest = Math.max(largest, Math.abs(values[at]!));
  const [above, below] = [theme('--above-rgb'), theme('--below-rgb')];
  const colors = { above: above.split(' ').map(Number), below: below.split(' ').map(Number) };
  context.strokeStyle = theme('--edge');
  context.lineWidth = 1;
  for (const { x, y, width, height, rows, columns, indexOf } of tiles) {
    context.fillStyle = theme('--field');
    context.fillRect(x, y, width, height);
    if (values.length > 0) {
      const image = new OffscreenCanvas(columns, rows);
      const inner = image.getContext('2d')!;
      const pixels = inner.createImageData(columns, rows);
      for (let at = 0; at < rows * columns; ++at) {
        const share = values[indexOf(at)]! / largest;
        const strength = 255 * Math.min(1, Math.abs(share)) ** 0.7;
        pixels.data.set([...(share < 0 ? colors.below : colors.above), strength], 4 * at);
      }
      inner.putImageData(pixels, 0, 0);
      context.imageSmoothingEnabled = false;
      context.drawImage(image, x, y, width, height);
    }
    context.strokeRect(x, y, width, height);
  }
}

function drawLabels(context: CanvasRenderingContext2D, column: Column, isFirst: boolean): void {
  if (column.labels === undefined) return;
  context.font = '12px system-ui, sans-serif';
  context.textBaseline = 'middle';
  context.textAlign = isFirst ? 'right' : 'left';
  const best = Math.max(...Array.from(column.values));
  for (const { x, y, width, height, indexOf } of column.tiles) {
    const index = indexOf(0);
    const isBest = !isFirst && column.values.length > 0 && column.values[index] === best;
    context.fillStyle = theme(isBest ? '--ink' : '--muted');
    const name = column.labels[index] ?? '';
    const text = name.length > 11 ? `${name.slice(0, 10)}…` : name;
    context.fillText(text, isFirst ? x - 6 : x + width + 6, y + height / 2);
  }
}

function drawTitle(
  context: CanvasRenderingContext2D,
  { title, shape, x }: Column,
  y: number,
): void {
  context.textAlign = 'center';
  context.textBaseline = 'alphabetic';
  context.fillStyle = theme('--ink');
  context.font = '12px system-ui, sans-serif';
  context.fillText(title, x, y + 16);
  context.fillStyle = theme('--muted');
  context.fillText(formatShape(shape), x, y + 32);
}

/** Lines; where the flow is on its way, `share` of it is behind and a dot runs on each. */
function drawFlows(context: CanvasRenderingContext2D, flows: readonly Flow[], share: number): void {
  for (const { from, to, strength } of flows) {
    const color = theme(strength < 0 ? '--below-rgb' : '--above-rgb');
    const weight = Math.abs(strength);
    context.strokeStyle = `rgb(${color} / ${0.12 + 0.6 * weight})`;
    context.lineWidth = 0.6 + 1.8 * weight;
    const bend = (to[0] - from[0]) / 2;
    context.beginPath();
    context.moveTo(...from);
    context.bezierCurveTo(from[0] + bend, from[1], to[0] - bend, to[1], ...to);
    context.stroke();
    if (share <= 0 || share >= 1) continue;
    const t = share;
    const y = from[1] + (to[1] - from[1]) * (3 * t * t - 2 * t * t * t);
    context.fillStyle = `rgb(${color})`;
    context.beginPath();
    context.arc(from[0] + (to[0] - from[0]) * t, y, 1.5 + 2 * weight, 0, 7);
    context.fill();
  }
}

function describe(shown: readonly Column[]): string {
  const names = shown.map(({ title, shape }) => `${title} ${formatShape(shape)}`).join(', ');
  const last = shown.at(-1);
  if (last?.labels === undefined || last.values.length === 0) return `The network: ${names}`;
  const values = Array.from(last.values);
  const best = last.labels[values.indexOf(Math.max(...values))];
  return `The network: ${names}. The strongest output is ${best}`;
}

function redraw(): void {
  const { clientWidth: width, clientHeight: height } = picture;
  const scale = devicePixelRatio || 1;
  picture.width = Math.round(width * scale);
  picture.height = Math.round(height * scale);
  const context = picture.getContext('2d')!;
  context.scale(scale, scale);
  let shown: Column[];
  try {
    shown = place(columns(), width, height - titleHeight);
  } catch (error) {
    show('picture-text', `No picture of this network: ${String(error)}`);
    return;
  }
  const front =
    begun === 0 ? Infinity : ((performance.now() - begun) / flowMs) * (shown.length - 1);
  shown.forEach((column, at) => {
    if (at > 0) {
      context.globalAlpha = front >= at - 1 ? 1 : 0.25;
      drawFlows(context, flowsBetween(shown[at - 1]!, column), front - at + 1);
    }
  });
  shown.forEach((column, at) => {
    context.globalAlpha = front >= at ? 1 : 0.25;
    drawTiles(context, column);
    drawLabels(context, column, at === 0);
    context.globalAlpha = 1;
    drawTitle(context, column, height - titleHeight);
  });
  if (front >= shown.length - 1) begun = 0;
  else changed();
  picture.ariaLabel = describe(shown);
}

function changed(): void {
  if (isDue || !isSeen) return;
  isDue = true;
  requestAnimationFrame(() => {
    isDue = false;
    lastDrawn = performance.now();
    redraw();
  });
}

function flow(): void {
  if (!prefersRest() && state.trained !== undefined && begun === 0) begun = performance.now();
  changed();
}

export function openPicture(): void {
  new IntersectionObserver(([entry]) => {
    isSeen = entry!.isIntersecting;
    changed();
  }).observe(picture);
  new ResizeObserver(changed).observe(picture);
  button('replay').addEventListener('click', flow);
  watch(['example'], flow);
  watch(['trained', 'weightsRevision', 'checked', 'data'], changed);
  watch(['trained', 'data'], () => {
    button('replay').disabled = state.trained === undefined;
    box('picture').hidden = state.data === undefined;
  });
  listen({
    onProgress() {
      if (performance.now() - lastDrawn > restMs) changed();
    },
    onReset: releaseProbe,
  });
  onThemeChange(changed);
}
