// Where the layers of a network lie in its picture: images, maps and units, and what flows between them.
import type { Activation } from '../activations';
import { sizeOf } from '../data/data_set';

export type Spot = readonly [x: number, y: number];

/** A part of a column: an image of values, or a single unit. */
export interface Tile {
  x: number;
  y: number;
  width: number;
  height: number;
  /** Rows and columns of values; a unit has one. */
  rows: number;
  columns: number;
  /** Index of a pixel in the values of the column. */
  indexOf: (pixel: number) => number;
}

export interface Column {
  title: string;
  shape: readonly number[];
  values: ArrayLike<number>;
  tiles: Tile[];
  /** The middle of its tiles. */
  x: number;
  /** The kernel of a dense layer that computes it from the column before. */
  kernel?: Float32Array;
  labels?: readonly string[];
}

/** A line from a value to a value of the next column: what it adds to it or takes from it. */
export interface Flow {
  from: Spot;
  to: Spot;
  /** -1 to 1. */
  strength: number;
}

/** Layers that move values, or do nothing to one example, have no column of their own. */
const hidden =
  /^(Flatten|Dropout|GaussianNoise|GaussianDropout|AlphaDropout|SpatialDropout\dD|Reshape|InputLayer)$/;
const maxMaps = 8;
const maxFlows = 3;

export const isHidden = ({ className }: Activation) => hidden.test(className);

/** Evenly chosen indices. */
const chosen = (count: number, most: number) =>
  count <= most
    ? [...Array(count).keys()]
    : Array.from({ length: most }, (_, at) => Math.floor((at * count) / most));

/** Images next to each other; as many as there is room for. */
function maps(shape: readonly number[], x: number, width: number, height: number): Tile[] {
  const [rows, columns, channels = 1] = shape as [number, number, number?];
  const count = Math.min(channels, maxMaps);
  const [across, down] = count <= 4 ? [1, count] : [2, Math.ceil(count / 2)];
  const side = Math.min((width - 6 * (across - 1)) / across, (height - 6 * (down - 1)) / down, 96);
  const top = (height - down * side - (down - 1) * 6) / 2;
  const left = x - (across * side + (across - 1) * 6) / 2;
  return Array.from({ length: count }, (_, map) => ({
    x: left + (map % across) * (side + 6),
    y: top + Math.floor(map / across) * (side + 6),
    width: side,
    height: side,
    rows,
    columns,
    indexOf: (pixel) => pixel * channels + map,
  }));
}

/** Units below each other. */
function units(count: number, x: number, height: number, most: number): Tile[] {
  const shown = chosen(count, most);
  const step = Math.min(height / shown.length, 26);
  const side = Math.min(step - 3, 16);
  const top = (height - step * shown.length) / 2;
  return shown.map((index, at) => ({
    x: x - side / 2,
    y: top + at * step + (step - side) / 2,
    width: side,
    height: side,
    rows: 1,
    columns: 1,
    indexOf: () => index,
  }));
}

/** Pixels for the labels of the first or last column. */
const labelWidth = (column: { labels?: readonly string[] } | undefined) =>
  Math.min(80, 8 * Math.max(0, ...(column?.labels ?? []).map(({ length }) => length)));

/** Places the tiles of columns in a picture of this size. */
export function place(
  columns: Omit<Column, 'tiles' | 'x'>[],
  width: number,
  height: number,
): Column[] {
  const [left, right] = [columns[0], columns.at(-1)].map(labelWidth) as [number, number];
  const slot = (width - left - right) / columns.length;
  return columns.map((column, at) => {
    const x = left + (at + 0.5) * slot;
    const { shape } = column;
    const most = Math.max(4, Math.floor(height / 13));
    const tiles =
      shape.length > 1 ? maps(shape, x, slot * 0.8, height) : units(sizeOf(shape), x, height, most);
    return { ...column, x, tiles };
  });
}

/** Where a value of a column lies, if it is shown. */
function spotsOf({ tiles }: Column): Map<number, Spot> {
  const spots = new Map<number, Spot>();
  for (const tile of tiles) {
    for (let pixel = 0; pixel < tile.rows * tile.columns; ++pixel) {
      const x = tile.x + (((pixel % tile.columns) + 0.5) * tile.width) / tile.columns;
      const y = tile.y + ((Math.floor(pixel / tile.columns) + 0.5) * tile.height) / tile.rows;
      spots.set(tile.indexOf(pixel), [x, y]);
    }
  }
  return spots;
}

const middle = ({ x, y, width, height }: Tile): Spot => [x + width / 2, y + height / 2];

/** The strongest lines into each shown value of a column; without weights, lines from tile to tile. */
export function flowsBetween(before: Column, after: Column): Flow[] {
  const { kernel } = after;
  if (kernel === undefined) {
    return after.tiles.flatMap((tile, at) => {
      const sources =
        before.tiles.length === after.tiles.length ? [before.tiles[at]!] : before.tiles;
      return sources.map((source) => ({ from: middle(source), to: middle(tile), strength: 0.12 }));
    });
  }
  const spots = [...spotsOf(before)];
  const width = sizeOf(after.shape);
  const flows = after.tiles.flatMap((tile) => {
    const unit = tile.indexOf(0);
    const all = spots.map(([index, from]) => ({
      from,
      to: middle(tile),
      strength: before.values[index]! * kernel[index * width + unit]!,
    }));
    all.sort((a, b) => Math.abs(b.strength) - Math.abs(a.strength));
    return all.slice(0, maxFlows);
  });
  const largest = Math.max(...flows.map(({ strength }) => Math.abs(strength)), 1e-9);
  return flows.map((flow) => ({ ...flow, strength: flow.strength / largest }));
}
