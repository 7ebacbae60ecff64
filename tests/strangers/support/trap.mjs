// Real traps in the shared instances of the compiler: what a hostile file does to them, without such a file.
import assert from 'node:assert/strict';
import { currentCore } from '../../../js/dist/core/core.js';
import { onnxReader } from '../../../js/dist/core/onnx_module.js';

const outside = 0xffff_ff00;
/** Reads out of bounds; exhausts the memory; overflows the engine's stack. */
export const traps = {
  'memory access': ({ exports }) =>
    exports.lathe_graph_decode?.(outside, 99, outside, 9) ?? exports.lathe_onnx_open(outside, 99),
  'memory exhaustion': ({ exports }) => {
    for (;;)
      if (exports.lathe_alloc(2 ** 29) === 0)
        exports.lathe_onnx_open?.(outside, 99) ??
          exports.lathe_graph_decode(outside, 99, outside, 9);
  },
  'stack overflow': ({ exports }) => {
    const deep = () => deep(exports.lathe_free(exports.lathe_alloc(8))) + 1;
    return deep();
  },
};

/** Stops the compiler, and the reader of ONNX models where there is one. */
export function stopCores(kind = 'memory access') {
  for (const core of [currentCore(), onnxReader.running]) {
    if (core === undefined) continue;
    assert.throws(() => core.run('trap', () => traps[kind](core)), { name: 'LatheError' });
    assert.equal(core.dead, true);
  }
}
