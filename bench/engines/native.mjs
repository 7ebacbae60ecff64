/** Runs OpenBLAS in a process of bench/engines/openblas.cc, built at first use; single-threaded. */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, statSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { samplePositions } from '../digest.mjs';
import { sizeOf } from '../models/model.mjs';

const source = fileURLToPath(new URL('openblas.cc', import.meta.url));
const folder = fileURLToPath(new URL('../../build/bench/', import.meta.url));
const driver = `${folder}openblas`;

function buildDriver() {
  const age = (file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (age(driver) > age(source)) return;
  mkdirSync(folder, { recursive: true });
  execFileSync('g++', ['-std=c++20', '-O2', source, '-o', driver, '-lopenblas'], { stdio: 'pipe' });
}

/** The words of a model that is one product of two inputs. */
function wordsOf({ values, output }) {
  const { transposeA, transposeB, shape, inputs } = values[output];
  const depth = values[inputs[0]].shape.at(transposeA ? -2 : -1);
  const [rows, columns] = shape.slice(-2);
  const batch = sizeOf(shape.slice(0, -2));
  return [batch, rows, columns, depth, Number(transposeA), Number(transposeB)];
}

export async function openNative() {
  buildDriver();
  const child = spawn(driver, {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, OPENBLAS_NUM_THREADS: '1' },
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const request = async (...words) => {
    child.stdin.write(`${words.flat().join(' ')}\n`);
    const { value } = await lines.next();
    return value ? JSON.parse(value) : { error: 'the process ended' };
  };
  const commands = {
    async prepare({ subject, warmUpMs }) {
      if (subject.values.some(({ dtype }) => dtype)) return { unsupported: 'is only for floats' };
      const { shape } = subject.values[subject.output];
      const positions = samplePositions(sizeOf(shape));
      const digest = await request('prepare', wordsOf(subject), positions.length, positions);
      await commands.measure({ forMs: warmUpMs });
      return { digest };
    },
    measure: ({ forMs }) => request('measure', forMs),
    finish: async () => ({}),
  };
  return {
    call: ({ command, ...options }) => commands[command](options),
    close: async () => void child.kill('SIGKILL'),
  };
}
