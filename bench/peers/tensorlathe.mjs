/** Ourselves: the npm package. */
import * as tl from 'tensorlathe';
import * as drive from './drive.mjs';

export const train = (...work) => drive.train(tl, ...work);
export const infer = (...work) => drive.infer(tl, ...work);
