// The canvas to draw a digit on. Strokes are placed as MNIST places digits before the network sees them.
import { drawStrokes, normaliseStrokes } from '../../../examples/lib/raster.mjs';
import { button, canvas, element, show, theme } from './dom';
import { paint } from './paint';

type Point = [number, number];

const penWidth = 2.2;
const pad = canvas('pad');
const seen = canvas('seen');
const bars = element('bars', HTMLOListElement);
let strokes: Point[][] = [];
let onDrawing: (pixels: Float32Array | undefined) => void = () => {};
let isDue = false;

/** Calls back with 28×28 floats whenever the drawing changes; with nothing when it is cleared. */
export function listenToPad(callback: typeof onDrawing): void {
  onDrawing = callback;
}

/** The drawing as the network sees it, or nothing. */
export function drawing(): Float32Array | undefined {
  if (strokes.length === 0) return undefined;
  const pixels = new Float32Array(784);
  drawStrokes(pixels, normaliseStrokes(strokes, penWidth), penWidth);
  return pixels;
}

/** Shows the probabilities of the ten digits, or that there is nothing to show. */
export function showGuess(probabilities: ArrayLike<number> | undefined, otherwise = ''): void {
  const values = probabilities ?? new Float32Array(10);
  const best = Array.from(values).indexOf(Math.max(...Array.from(values)));
  [...bars.children].forEach((bar, digit) => {
    const share = values[digit]!;
    bar.classList.toggle('best', probabilities !== undefined && digit === best);
    bar.ariaLabel = `${digit}: ${Math.round(100 * share)} percent`;
    bar.querySelector('i')!.style.width = `${100 * share}%`;
    bar.querySelector('span')!.textContent =
      probabilities === undefined ? '' : `${Math.round(100 * share)} %`;
  });
  if (probabilities === undefined) show('guess', otherwise);
  else show('guess', `${best}, I think (${Math.round(100 * values[best]!)} %)`);
}

function position(event: PointerEvent): Point {
  const box = pad.getBoundingClientRect();
  const scale = pad.width / box.width;
  return [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
}

function redraw(): void {
  const context = pad.getContext('2d')!;
  context.clearRect(0, 0, pad.width, pad.height);
  context.strokeStyle = theme('--ink');
  context.lineWidth = 18;
  context.lineCap = context.lineJoin = 'round';
  for (const stroke of strokes) {
    context.beginPath();
    context.moveTo(...stroke[0]!);
    for (const point of stroke) context.lineTo(...point);
    context.stroke();
  }
}

function changed(): void {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(() => {
    isDue = false;
    redraw();
    const pixels = drawing();
    paint(seen, pixels ?? new Float32Array(784));
    onDrawing(pixels);
  });
}

pad.addEventListener('pointerdown', (event) => {
  pad.setPointerCapture(event.pointerId);
  strokes.push([position(event)]);
  changed();
});
pad.addEventListener('pointermove', (event) => {
  if (!pad.hasPointerCapture(event.pointerId)) return;
  const events = event.getCoalescedEvents?.() ?? [];
  strokes.at(-1)!.push(...(events.length > 0 ? events : [event]).map(position));
  changed();
});
button('clear').addEventListener('click', () => {
  strokes = [];
  changed();
});

bars.replaceChildren(
  ...Array.from({ length: 10 }, (_, digit) => {
    const bar = document.createElement('li');
    const name = document.createElement('b');
    name.textContent = String(digit);
    const track = document.createElement('div');
    track.append(document.createElement('i'));
    bar.append(name, track, document.createElement('span'));
    return bar;
  }),
);
