// Shows 28×28 pixels on a small canvas, in the colours of the page.
import { theme } from './dom';

/** `values` are bytes, or floats from 0 to 1. */
export function paint(target: HTMLCanvasElement, values: Uint8Array | Float32Array): void {
  const context = target.getContext('2d')!;
  const image = context.createImageData(28, 28);
  const scale = values instanceof Uint8Array ? 1 : 255;
  const [red, green, blue] = theme('--ink-rgb').split(' ').map(Number);
  values.forEach((value, at) => image.data.set([red!, green!, blue!, value * scale], at * 4));
  context.putImageData(image, 0, 0);
}
