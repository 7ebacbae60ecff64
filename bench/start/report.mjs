/** The code of every start page around its peer: reports the time of the first result, and the result. */
import { digest } from '../digest.mjs';
import { leaves, sizeOf } from '../models/model.mjs';

/** Fetches the description and its weights, for peers that have no file format. */
export async function loadModel() {
  const [model, numbers] = await Promise.all([
    fetch('/model.json').then((response) => response.json()),
    loadNumbers('/weights.bin'),
  ]);
  let offset = 0;
  for (const value of leaves(model)) {
    const size = sizeOf(value.shape);
    value.data = numbers.subarray(offset, (offset += size));
  }
  return model;
}

export const loadNumbers = async (path) =>
  new Float32Array(await (await fetch(path)).arrayBuffer());

/** compute() returns the first result. */
export async function report(compute) {
  const outcome = await compute().then(
    (result) => ({ ms: performance.now(), digest: digest(result) }),
    (error) => ({ error: String(error?.stack ?? error) }),
  );
  await fetch('/result', { method: 'POST', body: JSON.stringify(outcome) });
}
