/** The command line of a loader file, `node net.mjs`: trains the module on rows of a file, tests it, writes its weights. */
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

/** Parses a file with one row of numbers per line, separated by commas, semicolons, tabs or spaces. A header line is skipped. */
function readRows(text: string, file: string, module: TrainingModule): Data {
  const inputs = module.metadata.entries.find(({ name }) => name === 'evaluate')!.inputs;
  const [x, y] = ['x', 'y'].map((port) => inputs.find(({ name }) => name === port));
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

function readArguments(words: readonly string[]): {
  file: string;
  flagValues: Map<string, string>;
} {
  const flagValues = new Map<string, string>();
  const files: string[] = [];
  for (const word of words) {
    const [, name, value = ''] = /^--([^=]*)=?(.*)$/.exec(word) ?? [];
    if (name === undefined) files.push(word);
    else if (!flags.includes(name)) throw new LatheError(`unknown flag ${word}\n${usage}`);
    else if ((value === '') !== (name === 'matrix')) {
      throw new LatheError(
        `--${name} ${value === '' ? `needs a value, --${name}=…` : 'accepts no value'}`,
      );
    } else flagValues.set(name, value);
  }
  if (files.length !== 1) throw new LatheError(`usage: ${usage}`);
  return { file: files[0]!, flagValues };
}

const percent = (share: unknown) => `${(100 * (share as number)).toFixed(2)} %`;

async function run(at: URL, words: readonly string[]): Promise<void> {
  const { readFileSync, writeFileSync } = nodeModule('node:fs');
  const { file, flagValues } = readArguments(words);
  const module = await loadTrainingModule(readFileSync(at));
  module.batchSize('train');
  const text = (path: string) => new TextDecoder().decode(readFileSync(path));
  const isJson = (path: string) => path.endsWith('.json');
  const [weights, out, tests] = ['weights', 'out', 'test'].map((name) => flagValues.get(name));
  if (weights !== undefined) {
    isJson(weights)
      ? module.fromJSON(text(weights))
      : module.fromSafetensors(new Uint8Array(readFileSync(weights)));
  }
  if (flagValues.has('rate')) module.learningRate = Number(flagValues.get('rate'));
  const { x, y } = readRows(text(file), file, module);
  const test = tests === undefined ? undefined : readRows(text(tests), tests, module);
  await module.train(x, y, {
    epochs: Number(flagValues.get('epochs') ?? 1),
    seed: Number(flagValues.get('seed') ?? 0),
    ...(test && { validationData: [test.x, test.y] }),
    onEpochEnd(epoch, { loss, acc, val_loss, val_acc }) {
      const tested = test && `  test loss ${(val_loss as number).toFixed(4)}  ${percent(val_acc)}`;
      const trained = `epoch ${epoch + 1}  loss ${(loss as number).toFixed(4)}  ${percent(acc)}`;
      console.log(trained + (tested ?? ''));
    },
  });
  if (flagValues.has('matrix')) {
    const [testX, testY] = test ? [test.x, test.y] : [x, y];
    for (const row of module.confusionMatrix(testX, testY)) {
      console.log(row.map((count) => `${count}`.padStart(6)).join(''));
    }
  }
  if (out !== undefined) {
    writeFileSync(out, isJson(out) ? JSON.stringify(module) : module.toSafetensors());
  }
}

/** Runs the command if Node was started with the file `self`; `at`: URL of the module. */
export async function runCommand(self: string, at: URL): Promise<void> {
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
