/** What `node net.mjs` does: trains the module beside it on rows of a file, tests it, writes its weights. Runs in Node only. */
import { LatheError } from '../base/errors.js';
import { nodeModule, nodeProcess } from '../base/node.js';
import { elementCount } from '../base/shape.js';
import { TextDecoder } from '../base/text.js';
import { loadTrainingModule, type TrainingModule } from './training_module.js';

const usage = `node NET.mjs TRAIN.csv [--test=TEST.csv] [--epochs=N] [--rate=NUMBER] [--seed=N]
    [--weights=FROM.safetensors] [--out=TO.safetensors] [--matrix]
A row has the numbers of x, then those of y. Weights are safetensors, or JSON where the name ends so.`;

const flags = ['test', 'epochs', 'rate', 'seed', 'weights', 'out', 'matrix'];

interface Data {
  x: Float32Array;
  y: Float32Array;
}

/** The numbers of a file with one row a line, with commas, semicolons, tabs or spaces between them. A first line of names is left out. */
function readRows(text: string, file: string, module: TrainingModule): Data {
  const places = module.metadata.entries.find(({ name }) => name === 'evaluate')!.inputs;
  const [x, y] = ['x', 'y'].map((wanted) => places.find(({ name }) => name === wanted));
  if (x === undefined || y === undefined) {
    throw new LatheError('the module has several inputs or outputs; drive it by its functions');
  }
  const [width, labels] = [x, y].map(({ shape }) => elementCount(shape.slice(1))) as [
    number,
    number,
  ];
  const rows: number[][] = [];
  text.split(/\r?\n/).forEach((line, at) => {
    if (line.trim() === '') return;
    const cells = line.trim().split(/\s*[,;\t]\s*|\s+/);
    const numbers = cells.map((cell) => (cell === '' ? NaN : Number(cell)));
    const wrong = numbers.findIndex((number) => !Number.isFinite(number));
    if (wrong >= 0) {
      if (rows.length === 0 && at === 0) return;
      throw new LatheError(`${file}:${at + 1}: ${cells[wrong] || 'nothing'} is no number`);
    }
    if (numbers.length !== width + labels) {
      throw new LatheError(
        `${file}:${at + 1}: ${numbers.length} numbers; a row has ${width} of x and ${labels} of y`,
      );
    }
    rows.push(numbers);
  });
  return {
    x: Float32Array.from(rows.flatMap((row) => row.slice(0, width))),
    y: Float32Array.from(rows.flatMap((row) => row.slice(width))),
  };
}

function readArguments(words: readonly string[]): { file: string; given: Map<string, string> } {
  const given = new Map<string, string>();
  const files: string[] = [];
  for (const word of words) {
    const [, name, value = ''] = /^--([^=]*)=?(.*)$/.exec(word) ?? [];
    if (name === undefined) files.push(word);
    else if (!flags.includes(name)) throw new LatheError(`unknown flag ${word}\n${usage}`);
    else if ((value === '') !== (name === 'matrix')) {
      throw new LatheError(
        `--${name} ${value === '' ? `needs a value, --${name}=…` : 'takes none'}`,
      );
    } else given.set(name, value);
  }
  if (files.length !== 1) throw new LatheError(`usage: ${usage}`);
  return { file: files[0]!, given };
}

const percent = (share: unknown) => `${(100 * (share as number)).toFixed(2)} %`;

async function run(at: URL, words: readonly string[]): Promise<void> {
  const { readFileSync, writeFileSync } = nodeModule('node:fs');
  const { file, given } = readArguments(words);
  const module = await loadTrainingModule(readFileSync(at));
  module.batchSize('train');
  const text = (path: string) => new TextDecoder().decode(readFileSync(path));
  const isJson = (path: string) => path.endsWith('.json');
  const [weights, out, tests] = ['weights', 'out', 'test'].map((name) => given.get(name));
  if (weights !== undefined) {
    isJson(weights)
      ? module.fromJSON(text(weights))
      : module.fromSafetensors(new Uint8Array(readFileSync(weights)));
  }
  if (given.has('rate')) module.learningRate = Number(given.get('rate'));
  const { x, y } = readRows(text(file), file, module);
  const test = tests === undefined ? undefined : readRows(text(tests), tests, module);
  await module.train(x, y, {
    epochs: Number(given.get('epochs') ?? 1),
    seed: Number(given.get('seed') ?? 0),
    ...(test && { validationData: [test.x, test.y] }),
    onEpochEnd(epoch, { loss, acc, val_loss, val_acc }) {
      const tested = test && `  test loss ${(val_loss as number).toFixed(4)}  ${percent(val_acc)}`;
      const trained = `epoch ${epoch + 1}  loss ${(loss as number).toFixed(4)}  ${percent(acc)}`;
      console.log(trained + (tested ?? ''));
    },
  });
  if (given.has('matrix')) {
    const [testX, testY] = test ? [test.x, test.y] : [x, y];
    for (const row of module.confusionMatrix(testX, testY)) {
      console.log(row.map((count) => `${count}`.padStart(6)).join(''));
    }
  }
  if (out !== undefined) {
    writeFileSync(out, isJson(out) ? JSON.stringify(module) : module.toSafetensors());
  }
}

/** Runs where the file at `self` is what Node was started with; the module lies at `at`. */
export async function runAlone(self: string, at: URL): Promise<void> {
  const argv = (nodeProcess as { argv?: string[] } | undefined)?.argv;
  if (argv?.[1] === undefined) return;
  const { realpathSync } = nodeModule('node:fs');
  if (realpathSync(argv[1]) !== realpathSync(nodeModule('node:url').fileURLToPath(self))) return;
  try {
    await run(at, argv.slice(2));
  } catch (error) {
    console.error((error as Error).message);
    (nodeProcess as unknown as { exitCode: number }).exitCode = 1;
  }
}
