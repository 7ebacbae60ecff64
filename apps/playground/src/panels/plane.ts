// The plane with the points of two classes, and the border that the network draws between them while it learns.
import { isPlane } from '../data/data_set';
import { box, canvas, onThemeChange, theme } from '../dom';
import { state, update, watch } from '../store';
import { listen } from '../training';
import { Guess, outputsFor } from './guess';

const map = canvas('plane-map');
const guess = new Guess('plane-guess', 'plane-bars');
/** Pixels of the border per side, and half the side of the plane. */
const cells = 64;
const reach = 1.15;
let pointed: Float32Array | undefined;
let points: OffscreenCanvas | undefined;
let isDue = false;

const isShown = () => state.data !== undefined && isPlane(state.data);
const across = (x: number) => ((x + reach) / (2 * reach)) * map.width;
const down = (y: number) => ((reach - y) / (2 * reach)) * map.height;
const rgb = (kind: number) => theme(kind === 0 ? '--above-rgb' : '--below-rgb');

/** The centers of the cells, row by row from the top. */
const centers = Float32Array.from({ length: 2 * cells * cells }, (_, at) => {
  const [cell, isY] = [at >> 1, at % 2 === 1];
  const step = (isY ? Math.floor(cell / cells) : cell % cells) + 0.5;
  return (isY ? -1 : 1) * ((2 * reach * step) / cells - reach);
});

/** The probabilities as colors: strong where the network is sure, pale at the border. */
function drawBorder(context: CanvasRenderingContext2D): void {
  const image = new OffscreenCanvas(cells, cells);
  const inner = image.getContext('2d')!;
  const pixels = inner.createImageData(cells, cells);
  const colors = [rgb(0), rgb(1)].map((each) => each.split(' ').map(Number));
  outputsFor(centers, cells * cells).forEach(([first], at) => {
    const share = first!;
    pixels.data.set([...colors[share >= 0.5 ? 0 : 1]!, Math.abs(share - 0.5) * 260], at * 4);
  });
  inner.putImageData(pixels, 0, 0);
  context.drawImage(image, 0, 0, map.width, map.height);
}

/** The points, which do not change while the border does. */
function pointsImage(): OffscreenCanvas {
  const image = new OffscreenCanvas(map.width, map.height);
  const context = image.getContext('2d')!;
  const { train, test } = state.data!;
  for (const part of [train, test]) {
    for (let at = 0; at < part.count; ++at) {
      context.beginPath();
      context.arc(across(part.features[2 * at]!), down(part.features[2 * at + 1]!), 6, 0, 7);
      context.fillStyle = `rgb(${rgb(part.labels[at]!)})`;
      context.strokeStyle = theme(part === train ? '--card' : '--ink');
      context.lineWidth = 2;
      context.fill();
      context.stroke();
    }
  }
  return image;
}

function drawPointed(context: CanvasRenderingContext2D): void {
  if (pointed === undefined) return;
  context.strokeStyle = theme('--ink');
  context.lineWidth = 3;
  context.beginPath();
  context.arc(across(pointed[0]!), down(pointed[1]!), 12, 0, 7);
  context.stroke();
}

function redraw(): void {
  if (!isShown()) return;
  const context = map.getContext('2d')!;
  context.clearRect(0, 0, map.width, map.height);
  try {
    if (state.trained !== undefined) drawBorder(context);
  } catch {
    // The loaded network is for other data; the points can be drawn all the same.
  }
  if (points !== undefined) context.drawImage(points, 0, 0);
  drawPointed(context);
  guess.about(pointed, 'Point at the plane, or use the arrow keys');
}

function changed(): void {
  if (isDue || !isShown()) return;
  isDue = true;
  requestAnimationFrame(() => {
    isDue = false;
    redraw();
  });
}

function point(x: number, y: number): void {
  const clip = (value: number) => Math.max(-reach, Math.min(reach, value));
  pointed = Float32Array.of(clip(x), clip(y));
  update({ example: pointed });
  changed();
}

const arrows: Record<string, [number, number]> = {
  ArrowLeft: [-0.1, 0],
  ArrowRight: [0.1, 0],
  ArrowUp: [0, 0.1],
  ArrowDown: [0, -0.1],
};

export function openPlane(): void {
  const follow = (event: PointerEvent) => {
    const { left, top, width, height } = map.getBoundingClientRect();
    const share = [(event.clientX - left) / width, (event.clientY - top) / height] as const;
    point(reach * (2 * share[0] - 1), reach * (1 - 2 * share[1]));
  };
  map.addEventListener('pointermove', follow);
  map.addEventListener('pointerdown', follow);
  map.addEventListener('keydown', (event) => {
    const step = arrows[event.key];
    if (step === undefined) return;
    event.preventDefault();
    point((pointed?.[0] ?? 0) + step[0], (pointed?.[1] ?? 0) + step[1]);
  });
  watch(['data'], () => {
    box('plane').hidden = !isShown();
    pointed = undefined;
    if (isShown()) {
      guess.useClasses(state.data!.classes);
      const { features } = state.data!.train;
      points = pointsImage();
      point(features[0]!, features[1]!);
    }
  });
  watch(['trained', 'weightsRevision'], changed);
  listen({ onPoint: changed });
  onThemeChange(() => {
    if (isShown()) points = pointsImage();
    changed();
  });
}
