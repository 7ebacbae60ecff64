/** Copies parts of buffers that need not begin or end with a word, which WebGPU's own copies do. */
import { bufferUsage } from './buffers.js';
import { Commands } from './commands.js';
import type { Gpu } from './gpu.js';

const wordBytes = 4;
const lanes = 64;
const maxGroups = 65535;

/** A shader with buffers of words b0, b1 …, of which b1 is written, that runs `body` for each i below `count`. */
export const shader = (buffers: number, count: string, body: string): string => `
${Array.from({ length: buffers }, (_, at) => {
  const access = at === 1 ? 'read_write' : 'read';
  return `@group(0) @binding(${at}) var<storage, ${access}> b${at}: array<u32>;`;
}).join('\n')}
@compute @workgroup_size(${lanes})
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x + id.y * ${lanes * maxGroups}u;
  if (i < ${count}) { ${body} }
}`;

/** Runs such a shader with at least `count` invocations, at once. */
export function runShader(
  gpu: Gpu,
  text: string,
  buffers: readonly GPUBuffer[],
  count: number,
): void {
  if (count === 0) return;
  const access = buffers.map((_, at) => (at === 1 ? 'read_write' : 'read'));
  const pipeline = gpu.pipelines.get('convert', text, access);
  gpu.pipelines.force(pipeline);
  const { device } = gpu;
  const entries = buffers.map((buffer, binding) => ({ binding, resource: { buffer } }));
  const commands = new Commands(device, 'convert');
  const groups = Math.ceil(count / lanes);
  const bindings = device.createBindGroup({ layout: pipeline.layout, entries });
  const size = [Math.min(groups, maxGroups), Math.ceil(groups / maxGroups)] as const;
  commands.dispatch(pipeline.compiled!, bindings, size);
  commands.submit();
  gpu.pipelines.release(pipeline);
}

/** An invocation for each word of the target; b2 has what to copy: from which byte to which byte, and their number. */
const copying = /* @__PURE__ */ shader(
  3,
  '(b2[1] + b2[2] + 3u) / 4u - b2[1] / 4u',
  `
    let at = b2[1] / 4u + i;
    var word = b1[at];
    for (var k = 0u; k < 4u; k++) {
      let done = 4u * at + k - b2[1]; // huge before the first
      let source = b2[0] + done;
      let byte = extractBits(b0[source / 4u], source % 4u * 8u, 8u);
      if (done < b2[2]) { word = insertBits(word, byte, k * 8u, 8u); }
    }
    b1[at] = word;
  `,
);

/** Copies bytes between two buffers, at once. */
export function copyBytes(
  gpu: Gpu,
  from: GPUBuffer,
  fromOffset: number,
  to: GPUBuffer,
  toOffset: number,
  bytes: number,
): void {
  if ([fromOffset, toOffset, bytes].every((each) => each % wordBytes === 0)) {
    const commands = new Commands(gpu.device, 'copy');
    commands.copy(from, fromOffset, to, toOffset, bytes);
    return commands.submit();
  }
  const part = Uint32Array.of(fromOffset, toOffset, bytes);
  const { storage, copyTarget } = bufferUsage;
  const arguments_ = gpu.device.createBuffer({
    size: part.byteLength,
    usage: storage | copyTarget,
  });
  gpu.device.queue.writeBuffer(arguments_, 0, part);
  runShader(gpu, copying, [from, to, arguments_], bytes / wordBytes + 2);
  arguments_.destroy();
}
