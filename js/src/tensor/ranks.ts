/** Types of shapes and nested arrays by rank, with the names of TensorFlow.js. */
import type { BigIntDType, DType } from './dtypes.js';

/** The shapes of tensors by rank; Rn: of more axes, or of unknown rank. */
export interface ShapeMap {
  R0: readonly [];
  R1: readonly [number];
  R2: readonly [number, number];
  R3: readonly [number, number, number];
  R4: readonly [number, number, number, number];
  R5: readonly [number, number, number, number, number];
  R6: readonly [number, number, number, number, number, number];
  Rn: readonly number[];
}

/** The shape of a tensor of this rank; any shape if the rank is not typed. */
export type ShapeOf<R extends Rank> = unknown extends R ? readonly number[] : ShapeMap[R];

/** The `shape` of a tensor: assignable to `number[]`, as in TensorFlow.js, but not to be modified. */
export type OwnShape<R extends Rank> = unknown extends R ? number[] : MutableShapes[R];
interface MutableShapes {
  R0: [];
  R1: [number];
  R2: [number, number];
  R3: [number, number, number];
  R4: [number, number, number, number];
  R5: [number, number, number, number, number];
  R6: [number, number, number, number, number, number];
  Rn: number[];
}

/** The nested arrays of elements E by rank. */
export interface ArrayMap<E = number> {
  R0: E;
  R1: E[];
  R2: E[][];
  R3: E[][][];
  R4: E[][][][];
  R5: E[][][][][];
  R6: E[][][][][][];
  Rn: any;
}

/** A number of axes as a type; `Rank` itself is any. As values, the names. */
export type Rank = keyof ShapeMap;
export const Rank = {
  R0: 'R0',
  R1: 'R1',
  R2: 'R2',
  R3: 'R3',
  R4: 'R4',
  R5: 'R5',
  R6: 'R6',
} as const;
export declare namespace Rank {
  type R0 = 'R0';
  type R1 = 'R1';
  type R2 = 'R2';
  type R3 = 'R3';
  type R4 = 'R4';
  type R5 = 'R5';
  type R6 = 'R6';
  type Rn = 'Rn';
}

/**
 * The result of `arraySync` for a rank and dtype. If the rank is not typed, it may be indexed to any depth;
 * cast it by `as number[][]`.
 */
export type ArrayOf<R extends Rank, D extends DType> = ArrayMap<
  D extends BigIntDType ? bigint : number
>[R];
