// Renders numbers as small images in the colors of the page.
import { theme } from '../dom';

const color = (name: string) => theme(name).split(' ').map(Number) as [number, number, number];

/** Ink on paper: values from 0 to 1, one for each pixel of the canvas. */
export function paint(
  target: HTMLCanvasElement | OffscreenCanvas,
  values: ArrayLike<number>,
): void {
  const context = target.getContext('2d') as CanvasRenderingContext2D;
  const image = context.createImageData(target.width, target.height);
  const ink = color('--ink-rgb');
  const pixels = target.width * target.height;
  const channels = values.length / pixels;
  for (let at = 0; at < pixels; ++at) {
    image.data.set([...ink, values[at * channels]! * 255], at * 4);
  }
  context.putImageData(image, 0, 0);
}

/** Weights: below zero one color, above another, zero the paper; `largest` is full color. */
export function paintWeights(
  target: HTMLCanvasElement,
  valueAt: (pixel: number) => number,
  largest: number,
): void {
  const context = target.getContext('2d')!;
  const image = context.createImageData(target.width, target.height);
  const [above, below] = [color('--above-rgb'), color('--below-rgb')];
  for (let at = 0; at < target.width * target.height; ++at) {
    const value = valueAt(at) / (largest || 1);
    const strength = Math.min(1, Math.abs(value)) ** 0.7;
    image.data.set([...(value < 0 ? below : above), strength * 255], at * 4);
  }
  context.putImageData(image, 0, 0);
}
