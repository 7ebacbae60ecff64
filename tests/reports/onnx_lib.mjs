// What reports about ONNX share: a model in ONNX Runtime Web and here.
import * as ort from 'onnxruntime-web';
import * as tl from 'tensorlathe';
import { difference } from '../js/onnx/compare.mjs';
import { lathe, runtime } from '../js/onnx/engines.mjs';

ort.env.wasm.numThreads = 1;
export const engines = { peer: runtime(ort), ours: lathe(tl) };

/** The results of an engine for a model, or { error }. */
export async function attempt(engine, bytes, feeds) {
  try {
    const loaded = await engine(bytes);
    try {
      return await loaded.run(feeds);
    } finally {
      loaded.dispose();
    }
  } catch (error) {
    return { error: String(error.message ?? error) };
  }
}

/** How we differ from ONNX Runtime Web; undefined where both have equal results or both fail. */
export async function differs(bytes, feeds, tolerance = { rtol: 1e-4, atol: 1e-5 }) {
  const [peer, ours] = [
    await attempt(engines.peer, bytes, feeds),
    await attempt(engines.ours, bytes, feeds),
  ];
  if (peer.error !== undefined || ours.error !== undefined) {
    if (peer.error !== undefined && ours.error !== undefined) return undefined;
    return `ONNX Runtime: ${peer.error ?? 'a result'}, here: ${ours.error ?? 'a result'}`.slice(
      0,
      400,
    );
  }
  for (const name of Object.keys(peer)) {
    const each = difference(peer[name], ours[name], tolerance);
    if (each !== undefined) return `${name}: ${each}`;
  }
  return undefined;
}
