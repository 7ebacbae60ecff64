/** Exports models and functions as ONNX files: the core prints their graphs, lathe-onnx-export.wasm converts these. */
import { LatheError } from '../base/errors.js';
import { encodeJson } from '../base/json.js';
import { checkOptions } from '../base/options.js';
import type { ModelConfig, ModelSummary, OnnxExportExports } from '../core/abi.js';
import type { Core } from '../core/core.js';
import type { CoreExecutable } from '../core/handles.js';
import { onnxWriter } from '../core/onnx_export_module.js';
import { DynamicModel } from '../core/dynamic_model.js';
import type { DType } from '../tensor/dtypes.js';
import { CompiledFunction } from '../trace/compiled_function.js';
import { SizedFunction } from '../trace/sized_function.js';
import { type Storable, storable } from '../train/storable.js';
import { target } from '../tune/target.js';
import { tunable } from '../tune/tunable.js';
import { type OnnxSource, type ToOnnxOptions, toOnnxOptions } from './options.js';

/** The dump before the first pass, of the graph as it was traced; no other passes run. */
const unoptimizedDump = 'only:eliminate_dead_code';
const maxAttempts = 3;

interface State {
  name: string;
  data: ArrayBufferView;
}

/** What is exported, for any sizes of its dynamic dimensions. */
interface Subject {
  name: string;
  inputs: Record<string, string>;
  outputs: Record<string, string>;
  /** Names of the dynamic dimensions. */
  symbols: string[];
  graph(sizes: readonly number[]): string;
  states(): State[];
  free(): void;
}

/** The printed graph of an entry. */
function graphIn(executable: CoreExecutable, entry: string): string {
  try {
    const { text } = executable.dumps()[0]!;
    const start = text.indexOf(`graph ${JSON.stringify(entry)} {\n`);
    return text.slice(start, text.indexOf('\n}', start) + 2);
  } finally {
    executable.free();
  }
}

/** Names of an entry's ports in the ONNX model. */
function namesOf(stem: string, ports: readonly { name: string }[]): Record<string, string> {
  if (ports.length === 1) return { [stem]: ports[0]!.name };
  return Object.fromEntries(ports.map(({ name }) => [`${stem}/${name}`, name]));
}

/** Names for the batch and the null axes. */
function symbolsOf({ inputs }: ModelSummary): string[] {
  const open = inputs.flatMap(({ name, shape }) =>
    shape.flatMap((size, axis) => (size === null ? [`${name}_${axis + 1}`] : [])),
  );
  return ['batch', ...open];
}

function modelSubject(model: Storable, { batchSize, sizes }: ToOnnxOptions): Subject {
  const { config, summary, states } = model[storable];
  const open = new DynamicModel(config);
  const [batch, ...axes] = symbolsOf(summary);
  const rows = batchSize ?? (summary.stateful ? (config as ModelConfig).batchSize : undefined);
  const fixed = sizes as readonly number[] | undefined;
  if (fixed !== undefined && fixed.length !== axes.length) {
    open.free();
    throw new LatheError(
      `toOnnx: the model has ${axes.length} axes that are null, sizes has ${fixed.length}`,
    );
  }
  return {
    name: summary.name,
    inputs: namesOf('x', summary.inputs),
    outputs: namesOf('y', summary.outputs),
    symbols: [...(rows === undefined ? [batch!] : []), ...(fixed === undefined ? axes : [])],
    graph(free) {
      const left = [...free];
      const predict = rows ?? left.shift()!;
      const executable = open.at(fixed ?? left).compile({
        ...target(),
        rowWeights: false,
        labels: ['dense'],
        batch: { train: predict, evaluate: predict, predict },
        dumps: [unoptimizedDump],
      });
      return graphIn(executable, 'predict');
    },
    states: () => states.map(({ name, values }) => ({ name, data: values })),
    free: () => open.free(),
  };
}

function functionSubject(fn: CompiledFunction, { sizes = {} }: ToOnnxOptions): Subject {
  const fixedSizes = sizes as Readonly<Record<string, number>>;
  const names = fn instanceof SizedFunction ? fn.names : [];
  const symbols = names.filter((name) => !Object.hasOwn(fixedSizes, name));
  let last: CompiledFunction | undefined;
  return {
    name: 'function',
    inputs: {},
    outputs: {},
    symbols,
    graph(free) {
      const bound = Object.fromEntries(symbols.map((name, at) => [name, free[at]!]));
      last = fn instanceof SizedFunction ? fn.bind({ ...fixedSizes, ...bound }) : fn;
      return graphIn(last[tunable].executable([unoptimizedDump]), 'run');
    },
    states() {
      const executable = last![tunable].executable([]);
      try {
        return executable.metadata().states.map(({ name }) => ({
          name,
          data: last!.variable(name).dataSync<DType>(),
        }));
      } finally {
        executable.free();
      }
    },
    free: () => {},
  };
}

const isModel = (source: unknown): source is Storable =>
  source !== null && typeof source === 'object' && storable in source;

function subjectOf(source: OnnxSource, options: ToOnnxOptions): Subject {
  if (source instanceof CompiledFunction) {
    if (options.batchSize !== undefined) {
      throw new LatheError('toOnnx: batchSize is for models; functions have sizes');
    }
    return functionSubject(source, options);
  }
  if (isModel(source)) return modelSubject(source, options);
  throw new LatheError(
    'toOnnx: expects a model of layers, or a function of tl.compile without the options heap or segments',
  );
}

/** Copies the elements of all states, concatenated, into memory of the exporter. */
function copyStates(core: Core<OnnxExportExports>, states: readonly State[]) {
  const bytes = states.map(
    ({ data }) => new Uint8Array(data.buffer, data.byteOffset, data.byteLength),
  );
  const all = new Uint8Array(bytes.reduce((sum, { length }) => sum + length, 0));
  let offset = 0;
  const ranges = states.map(({ name }, at) => {
    all.set(bytes[at]!, offset);
    const range = { name, offset, size: bytes[at]!.length };
    offset += range.size;
    return range;
  });
  return { ranges, at: core.copy('weights', all), size: all.length };
}

/** Exports from graphs for sample sizes; undefined if the graphs differ in more than sizes. */
function attempt(
  core: Core<OnnxExportExports>,
  { name, inputs, outputs, symbols, graph, states }: Subject,
  number: number,
): Uint8Array<ArrayBuffer> | undefined {
  const list = core.call('toOnnx', (exports) => exports.lathe_onnx_samples(symbols.length, number));
  const all = JSON.parse(core.readString(list)) as number[][];
  const samples = (symbols.length === 0 ? [[]] : all).map((sizes) => {
    return { sizes, graph: graph(sizes) };
  });
  const { ranges, at, size } = copyStates(core, states());
  const request = { samples, symbols, name, version: '', inputs, outputs, states: ranges };
  const resultAddress = core.withString('toOnnx', encodeJson(request), (json, length) =>
    core.exports.lathe_onnx_export(json, length, at, size),
  );
  const words = new Uint32Array(core.exports.memory.buffer, resultAddress, 3);
  const [address, length, hasSymbols] = [...words] as [number, number, number];
  const isDone = symbols.length === 0 || hasSymbols === 1;
  const file = isDone ? core.bytes(address, length) : undefined;
  if (!core.dead) core.exports.lathe_onnx_export_free();
  return file;
}

/** Implements `tl.toOnnx`. */
export async function exportOnnx(
  source: OnnxSource,
  options: ToOnnxOptions,
): Promise<Uint8Array<ArrayBuffer>> {
  checkOptions('toOnnx', options, toOnnxOptions);
  const copying = isModel(source) ? source.synced() : undefined;
  if (copying !== undefined) await copying;
  const subject = subjectOf(source, options);
  try {
    const core = await onnxWriter.current();
    for (let number = 0; number < maxAttempts; ++number) {
      const file = attempt(core, subject, number);
      if (file !== undefined) return file;
    }
  } finally {
    subject.free();
  }
  const names = subject.symbols.join(', ');
  const how = subject.symbols[0] === 'batch' ? 'batchSize and sizes' : 'sizes';
  throw new LatheError(
    `toOnnx: what is computed depends on ${names} in more than shapes; fix them by ${how}`,
  );
}
