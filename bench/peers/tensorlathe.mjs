/** Ourselves: the npm package. */
import * as tl from 'tensorlathe';
import * as drive from './drive.mjs';

await tl.ready();

export const train = (...work) => drive.train(tl, ...work);
export const infer = (...work) => drive.infer(tl, ...work);
