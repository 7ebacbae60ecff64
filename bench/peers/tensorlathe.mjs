/** Ourselves: the npm package. */
import * as tl from 'tensorlathe';
import { opened } from '../tensors/programs.mjs';
import * as drive from './drive.mjs';

await tl.ready();

/** The API of TensorFlow.js. */
export async function program(name, { threads }) {
  tl.env().set('THREADS_COUNT', threads);
  const tf = await import('tensorlathe/tfjs');
  return opened(tf, name);
}
export const train = (...work) => drive.train(tl, ...work);
export const infer = (...work) => drive.infer(tl, ...work);
