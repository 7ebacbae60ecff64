/**
 * Models and weights that Keras 2 saved as HDF5 (.h5). A module of its own: it needs the npm package jsfive.
 *
 * @module tensorlathe/keras
 */
import { Dataset, File as HdfFile, Group } from 'jsfive';
import { LatheError } from '../base/errors.js';
import { own } from '../base/own.js';
import { elementCount } from '../base/shape.js';
import { readAddress } from './address.js';
import { type IOHandler, isObject, type ModelArtifacts, type TrainingConfig } from './artifacts.js';
import { slotNames } from './keras_names.js';
import { encodeWeights, type NamedArray } from './weight_data.js';

const generatedBy = 'keras';

/**
 * A handler for `tl.loadLayersModel` and `model.loadWeights` that reads a Keras file, by its address
 * or its content, with what the optimiser had gathered.
 * Errors: it cannot be read or is damaged; with the file and the tensor.
 */
export function fromKeras(source: string | URL | Blob | ArrayBuffer | Uint8Array): IOHandler {
  return {
    async load() {
      const isAddress = typeof source === 'string' || source instanceof URL;
      const where = isAddress
        ? String(source)
        : ((source as Partial<File>).name ?? 'the Keras file');
      const content = isAddress ? await readAddress(source, where) : source;
      const buffer =
        content instanceof Blob
          ? await content.arrayBuffer()
          : Uint8Array.from(bytesOf(content)).buffer;
      return read(buffer, where);
    },
  };
}

function bytesOf(content: ArrayBuffer | Uint8Array): Uint8Array {
  return content instanceof ArrayBuffer ? new Uint8Array(content) : content;
}

function read(buffer: ArrayBuffer, where: string): ModelArtifacts {
  try {
    const file = new HdfFile(buffer, where);
    const model = jsonOf(file.attrs.model_config, 'model_config');
    const training = jsonOf(file.attrs.training_config, 'training_config') as
      TrainingConfig | undefined;
    const isModel = file.keys.includes('model_weights');
    const weights = readWeights(isModel ? (file.get('model_weights') as Group) : file);
    const gathered = file.keys.includes('optimizer_weights')
      ? readOptimizer(file.get('optimizer_weights') as Group, weights, training)
      : [];
    return {
      ...(model && { modelTopology: model }),
      ...(training && { trainingConfig: training }),
      format: 'layers-model',
      generatedBy,
      ...encodeWeights([...weights, ...gathered]),
    };
  } catch (error) {
    // The reader of HDF5 throws strings, and whatever engines throw for a wrong place.
    const reason = error instanceof Error ? error.message : String(error);
    throw new LatheError(`${where}: no Keras file that can be read: ${reason}`, { cause: error });
  }
}

function jsonOf(value: unknown, what: string): Record<string, unknown> | undefined {
  if (value === undefined || value === null) return undefined;
  const json: unknown = JSON.parse(String(value).replace(/\0+$/, ''));
  if (!isObject(json)) throw new Error(`${what} is no object`);
  return json;
}

/** A list of names; long ones are cut into NAME0, NAME1, … */
function namesOf(attrs: Record<string, unknown>, name: string): string[] {
  const parts = name in attrs ? [attrs[name]] : [];
  for (let at = 0; `${name}${at}` in attrs; ++at) parts.push(attrs[`${name}${at}`]);
  if (parts.length === 0) throw new Error(`it has no ${name}`);
  return parts.flat().map((each) => String(each).replace(/\0+$/, ''));
}

function readWeights(group: Group): NamedArray[] {
  return namesOf(group.attrs, 'layer_names').flatMap((layer) => {
    const part = group.get(layer) as Group;
    return namesOf(part.attrs, 'weight_names').map((path) => {
      const name = nameOf(layer, path);
      return { name, ...readTensor(part, path) };
    });
  });
}

function readTensor(group: Group, path: string): Omit<NamedArray, 'name'> {
  const dataset = group.get(path);
  if (!(dataset instanceof Dataset)) throw new Error(`the tensor ${path} is not there`);
  const shape = [...dataset.shape];
  const data = Float32Array.from(dataset.value, Number);
  if (data.length !== elementCount(shape)) {
    throw new Error(`the tensor ${path} has ${data.length} values, not [${shape.join(',')}]`);
  }
  return { shape, dtype: 'float32', data };
}

/**
 * The steps and slots as optimizer_state.ts names them, WEIGHT/SLOT. Keras has them as
 * OPTIMIZER/WEIGHT/SLOT, later as OPTIMIZER/SLOT/WEIGHT; what is neither is left out.
 */
function readOptimizer(
  group: Group,
  weights: readonly NamedArray[],
  training: TrainingConfig | undefined,
): NamedArray[] {
  const ofOptimizer = { group: 'optimizer' };
  const known = new Set(weights.map(({ name }) => name));
  const isMomentum = /SGD$/.test(String(training?.optimizer_config?.class_name));
  const rate = Number(training?.optimizer_config?.config?.learning_rate);
  const slots: NamedArray[] = [];
  let steps = 0;
  for (const path of namesOf(group.attrs, 'weight_names')) {
    const parts = path.replace(/:0$/, '').split('/');
    if (/^iter(ations?)?$/.test(parts.at(-1)!)) {
      steps = readTensor(group, path).data[0]!;
      continue;
    }
    const inner = parts.slice(1).filter((part) => !/_cell(_\d+)?$/.test(part));
    const [first, last] = [inner[0] ?? '', inner.at(-1) ?? ''];
    const [before, behind] = [inner.slice(0, -1), inner.slice(1)].map((each) => each.join('/'));
    const [weight, slot] = known.has(before!) ? [before!, last] : [behind!, first];
    if (!known.has(weight)) continue;
    const tensor = readTensor(group, path);
    // Keras gathers the steps themselves: against the gradient, the learning rate within.
    if (isMomentum) tensor.data = tensor.data.map((value) => -value / rate);
    const name = isMomentum ? 'momentum' : (own(slotNames, slot) ?? slot);
    slots.push({ name: `${weight}/${name}`, ...tensor, ...ofOptimizer });
  }
  if (slots.length === 0) return [];
  const count = Int32Array.of(steps);
  return [{ name: 'iter', shape: [], dtype: 'int32', data: count, ...ofOptimizer }, ...slots];
}

/** lstm, "lstm/lstm_cell_1/kernel:0" -> "lstm/kernel": Keras repeats the layer and names its cell. */
function nameOf(layer: string, path: string): string {
  const parts = path.replace(/:0$/, '').split('/');
  if (parts.length > 1 && parts[0] === layer) parts.shift();
  return [layer, ...parts.filter((part) => !/_cell(_\d+)?$/.test(part))].join('/');
}
