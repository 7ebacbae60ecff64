/** What follows from the times of a row: speeds and ratios. undefined where something was not measured. */
import { ceilingSpeed } from './measure.mjs';
import { isRival, peers } from './peers.mjs';

export const ratio = (a, b) => (a && b ? a / b : undefined);

export const oursOf = (row) => row.peers.tensorlathe?.ms;

/** The shortest time of a competitor of ours. */
export const fastestOf = (row) =>
  Object.entries(row.peers)
    .filter(([name, { ms }]) => name in peers && isRival(name) && ms)
    .reduce((best, [, { ms }]) => Math.min(best ?? ms, ms), undefined);

/** Our GFLOP/s, for rows with products. */
export const speedOf = (row) => ratio(row.flops / 1e6, oursOf(row));

/** GFLOP/s of the fastest loop that the engine runs. */
export const ceilingOf = ({ peers: { fused, plain } }) =>
  ceilingSpeed(fused) ?? ceilingSpeed(plain);

/** How many times faster the threads of a configuration run that loop than one thread, at the same time of day. */
export const scalingOf = ({ peers: { fused, parallel } }) =>
  ratio(ceilingSpeed(parallel), ceilingSpeed(fused));

export const digits = (value) =>
  value === undefined ? '–' : value >= 100 ? value.toFixed(0) : value.toPrecision(3);
export const times = (value) => (value === undefined ? '–' : `${value.toFixed(2)}×`);
