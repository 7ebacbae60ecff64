// One of several threads that run an entry together: instantiates what it is sent and calls the entry. Runs in Node and browsers.
const { parentPort } = (await globalThis.process?.getBuiltinModule?.('node:worker_threads')) ?? {};
const port = parentPort ?? globalThis;

function run({ module, memory, firstPhase, entry, fromBack }) {
  try {
    const { exports } = new WebAssembly.Instance(module, { env: { memory, firstPhase } });
    while (exports[entry](1 + fromBack) !== 1);
    return undefined;
  } catch (error) {
    return String(error);
  }
}

const receive = (message) => port.postMessage({ problem: run(message) });
if (parentPort) parentPort.on('message', receive);
else globalThis.onmessage = ({ data }) => receive(data);
