// The canvas to draw a digit on, by pointer or keyboard. Strokes are centered and scaled as in MNIST before prediction.
import { drawStrokes, normaliseStrokes, smooth } from '../../../../examples/lib/raster.mjs';
import { isDigits } from '../data/data_set';
import { box, button, canvas, onThemeChange, show, theme } from '../dom';
import { state, update, watch } from '../store';
import { listen } from '../training';
import { Guess } from './guess';
import { paint } from './images';

type Point = [number, number];

const penWidth = 2.2;
const stepLength = 12;
const pad = canvas('pad');
const seen = canvas('seen');
const guess = new Guess('guess', 'bars');
/** The initial example: a three. */
const example: Point[][] = [
  smooth([
    [92, 82],
    [112, 62],
    [146, 56],
    [176, 70],
    [180, 98],
    [160, 122],
    [132, 134],
    [164, 144],
    [188, 170],
    [184, 204],
    [152, 224],
    [116, 222],
    [90, 202],
  ]) as Point[],
];
let strokes = example;
/** A photo instead of strokes. */
let photo: Float32Array | undefined;
/** Position of the keyboard cursor. */
let cursor: Point = [140, 60];
let isDue = false;

const arrows: Record<string, Point> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** The drawing or photo as the network sees it, or nothing. */
function drawing(): Float32Array | undefined {
  if (photo !== undefined) return photo;
  if (strokes.length === 0) return undefined;
  const pixels = new Float32Array(784);
  drawStrokes(pixels, normaliseStrokes(strokes, penWidth), penWidth);
  return pixels;
}

function classify(): void {
  if (state.data !== undefined && !isDigits(state.data)) return;
  guess.about(drawing(), 'Draw, and it guesses');
}

function position(event: PointerEvent): Point {
  const { left, top, width } = pad.getBoundingClientRect();
  const scale = pad.width / width;
  return [(event.clientX - left) * scale, (event.clientY - top) * scale];
}

function redraw(): void {
  const context = pad.getContext('2d')!;
  context.clearRect(0, 0, pad.width, pad.height);
  context.strokeStyle = theme(strokes === example ? '--muted' : '--ink');
  context.lineWidth = 18;
  context.lineCap = context.lineJoin = 'round';
  for (const stroke of strokes) {
    context.beginPath();
    context.moveTo(...stroke[0]!);
    for (const point of stroke) context.lineTo(...point);
    context.stroke();
  }
  if (photo !== undefined) {
    const image = new OffscreenCanvas(28, 28);
    paint(image, photo);
    context.drawImage(image, 0, 0, pad.width, pad.height);
  }
  if (document.activeElement !== pad || !pad.matches(':focus-visible')) return;
  context.fillStyle = theme('--accent');
  context.beginPath();
  context.arc(...cursor, 6, 0, 2 * Math.PI);
  context.fill();
}

/** The hint for the user. */
function invite(): void {
  const { trained } = state;
  const hasLearnt = trained !== undefined && state.phase === 'idle';
  const isExample = strokes === example;
  const title =
    photo !== undefined ? 'Your photo' : strokes.length === 0 ? 'Draw a digit' : 'Your drawing';
  const ofExample = hasLearnt ? 'Now draw a digit' : 'What is this digit?';
  show('draw-title', isExample ? ofExample : title);
  box('draw').classList.toggle('invites', hasLearnt && isExample);
}

/** The user starts to draw: the example is cleared. */
function begin(first: Point): void {
  strokes = strokes === example ? [[first]] : [...strokes, [first]];
  photo = undefined;
  invite();
}

function changed(): void {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(() => {
    isDue = false;
    redraw();
    const example = drawing();
    paint(seen, example ?? new Float32Array(784));
    if (state.data === undefined || isDigits(state.data)) update({ example });
    classify();
  });
}

function onKey(event: KeyboardEvent): void {
  const direction = arrows[event.key];
  if (direction === undefined) return;
  event.preventDefault();
  const clip = (value: number) => Math.max(0, Math.min(pad.width, value));
  const next: Point = [
    clip(cursor[0] + stepLength * direction[0]),
    clip(cursor[1] + stepLength * direction[1]),
  ];
  if (event.shiftKey) {
    const last = strokes.at(-1)?.at(-1);
    if (strokes === example || String(last) !== String(cursor)) begin(cursor);
    strokes.at(-1)!.push(next);
  }
  cursor = next;
  changed();
}

/** Reads the digit on a photo. Error: there is none. */
export async function usePhoto(file: Blob): Promise<void> {
  const { digitFrom } = await import('../data/photo_digit');
  photo = await digitFrom(file);
  strokes = [];
  invite();
  changed();
  box('draw').scrollIntoView({ block: 'nearest' });
}

export function openDraw(): void {
  guess.useClasses(Array.from({ length: 10 }, (_, digit) => String(digit)));
  pad.addEventListener('pointerdown', (event) => {
    pad.setPointerCapture(event.pointerId);
    begin(position(event));
    changed();
  });
  pad.addEventListener('pointermove', (event) => {
    if (!pad.hasPointerCapture(event.pointerId)) return;
    const events = event.getCoalescedEvents?.() ?? [];
    strokes.at(-1)!.push(...(events.length > 0 ? events : [event]).map(position));
    changed();
  });
  pad.addEventListener('keydown', onKey);
  pad.addEventListener('focus', changed);
  pad.addEventListener('blur', changed);
  button('clear').addEventListener('click', () => {
    strokes = [];
    photo = undefined;
    invite();
    changed();
  });
  watch(['trained', 'weightsRevision'], classify);
  watch(['trained', 'phase'], invite);
  watch(['data'], () => {
    box('draw').hidden = state.data === undefined || !isDigits(state.data);
    if (!box('draw').hidden) changed();
  });
  listen({ onProgress: classify });
  onThemeChange(changed);
  changed();
}
