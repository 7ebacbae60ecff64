// Points in the plane, of two classes that no straight line divides.
import type { DataSet, Part } from './data_set';

type Point = [x: number, y: number];

const count = 600;
const trainShare = 0.8;

/** A generator of numbers from 0 to 1, always the same ones. */
function generator(seed: number): () => number {
  let value = seed;
  return () => {
    value = (value + 0x6d2b79f5) | 0;
    let mixed = Math.imul(value ^ (value >>> 15), 1 | value);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

interface Shape {
  /** What the classes are called together. */
  name: string;
  /** A point of a class; `along` is random from 0 to 1. */
  point: (kind: number, along: number, random: () => number) => Point;
  noise: number;
}

/** The points of a class lie from -1 to 1, about. */
export const shapes: Record<string, Shape> = {
  moons: {
    name: 'two moons',
    noise: 0.07,
    point(kind, along) {
      const [x, y] = [Math.cos(Math.PI * along), Math.sin(Math.PI * along)];
      return kind === 0 ? [0.6 * x - 0.3, 0.7 * y - 0.2] : [0.6 * x + 0.3, 0.2 - 0.7 * y];
    },
  },
  spirals: {
    name: 'two spirals',
    noise: 0.025,
    point(kind, along) {
      const radius = 0.08 + 0.85 * along;
      const angle = 1.6 * 2 * Math.PI * along + kind * Math.PI;
      return [radius * Math.cos(angle), radius * Math.sin(angle)];
    },
  },
  rings: {
    name: 'two rings',
    noise: 0.06,
    point(kind, along) {
      const radius = kind === 0 ? 0.35 : 0.8;
      return [radius * Math.cos(2 * Math.PI * along), radius * Math.sin(2 * Math.PI * along)];
    },
  },
  quarters: {
    name: 'opposite quarters',
    noise: 0.02,
    point(kind, along, random) {
      const [x, y] = [0.06 + 0.85 * along, 0.06 + 0.85 * random()];
      const side = random() < 0.5 ? 1 : -1;
      return kind === 0 ? [side * x, side * y] : [side * x, -side * y];
    },
  },
};

export const planeClasses = ['teal', 'orange'];

/** A data set of points of this shape. */
export function shapeDataSet(key: string): DataSet {
  const { name, point, noise } = shapes[key]!;
  const random = generator(7);
  const bell = () => random() + random() + random() + random() - 2;
  const points = Array.from({ length: count }, (_, at) => {
    const kind = at % 2;
    const [x, y] = point(kind, random(), random);
    return { x: x + noise * bell() * 1.7, y: y + noise * bell() * 1.7, kind };
  });
  const part = (from: number, to: number): Part => ({
    features: Float32Array.from(points.slice(from, to).flatMap(({ x, y }) => [x, y])),
    labels: Int32Array.from(points.slice(from, to), ({ kind }) => kind),
    count: to - from,
  });
  const middle = trainShare * count;
  return {
    source: `points drawn in this page`,
    shape: [2],
    classes: planeClasses,
    target: name,
    isPlane: true,
    train: part(0, middle),
    test: part(middle, count),
  };
}
