/** TensorFlow.js as it is, with our backend. */
import { Unsupported } from '../models/model.mjs';
import { opened } from '../tensors/programs.mjs';

export async function program(name, { threads }) {
  if (typeof document !== 'undefined') throw new Unsupported('is measured in Node');
  const tf = await import('@tensorflow/tfjs');
  await import('tensorlathe/tfjs-backend');
  const tl = await import('tensorlathe');
  tl.env().set('THREADS_COUNT', threads);
  if (!(await tf.setBackend('lathe'))) throw new Error('the backend "lathe" did not start');
  return opened(tf, name);
}
