/** Both engines with the same interface: `tensor`, `load` to something with `run` and `close`. */

const makers = {
  async ours(threads) {
    const tl = await import('tensorlathe');
    tl.env().set('THREADS_COUNT', threads);
    return {
      tensor: (type, data, dims) => tl.tensor(data, dims, type),
      elements: (tensor) => tensor.dataSync(),
      async load(bytes) {
        const model = await tl.loadModel(bytes);
        return { run: (feeds) => model.run(feeds), close: () => model.dispose() };
      },
    };
  },
  async theirs(threads) {
    const ort = await import('onnxruntime-web');
    ort.env.wasm.numThreads = threads;
    return {
      tensor: (type, data, dims) => new ort.Tensor(type, data, dims),
      elements: (tensor) => tensor.data,
      async load(bytes) {
        const options = { executionProviders: ['wasm'], logSeverityLevel: 4 };
        const session = await ort.InferenceSession.create(bytes, options);
        return { run: (feeds) => session.run(feeds), close: () => session.release() };
      },
    };
  },
};

export const names = Object.keys(makers);

/** One of them, its scripts there, its WebAssembly not necessarily. */
export const engine = (name, threads) => makers[name](threads);

/** The maximum difference of results, relative to the largest element. */
export function distance(a, b) {
  let [maximum, worst] = [0, 0];
  for (let at = 0; at < a.length; at++) {
    maximum = Math.max(maximum, Math.abs(Number(a[at])));
    worst = Math.max(worst, Math.abs(Number(a[at]) - Number(b[at])));
  }
  return maximum === 0 ? worst : worst / maximum;
}
