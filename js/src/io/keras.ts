/**
 * Models and weights that Keras saved: archives of Keras 3 (.keras) and HDF5 of Keras 2 (.h5). A separate module: it
 * needs the npm package jsfive. Once it is imported, `tl.loadLayersModel` and `tl.loadModel` accept addresses of such files.
 *
 * @module tensorlathe/keras
 */
import { Dataset, File as HdfFile, Group } from 'jsfive';
import { isEngineError, LatheError, reasonOf } from '../base/errors.js';
import { nameOf, readSource, type FileSource } from '../base/source.js';
import { bytesOf } from '../base/kinds.js';
import { elementCount } from '../base/shape.js';
import { queryFormats, loadFormats } from '../core/formats.js';
import { type IOHandler, isObject, type ModelArtifacts, type TrainingConfig } from './artifacts.js';
import { readArchive, slotsIn, topologyOf, variablesOf } from './keras_archive.js';
import { routers } from './routers.js';
import { encodeWeights, type NamedArray } from './weight_data.js';

const generatedBy = 'keras';

/** The tensors of a file: weights by name, the index of the step count among those of the optimizer, and its slots. */
interface KerasTensors {
  weights: string[];
  steps: number | null;
  slots: { path: number; name: string; divisor: number | null }[];
}

/**
 * A handler for `tl.loadLayersModel` and `model.loadWeights` that reads a Keras file, by its address,
 * in Node also its path, or its content, with the optimizer state.
 * Errors: unreadable or damaged; they name the file and the tensor.
 */
export function fromKeras(source: FileSource | ArrayBuffer | Uint8Array): IOHandler {
  return {
    async load() {
      const where = nameOf(source, 'the Keras file');
      const bytes = bytesOf(source) ?? (await readSource(source as FileSource, where));
      await loadFormats();
      return read(Uint8Array.from(bytes).buffer, where);
    },
  };
}

routers.keras = fromKeras;

async function read(buffer: ArrayBuffer, where: string): Promise<ModelArtifacts> {
  try {
    const bytes = new Uint8Array(buffer);
    if (bytes[0] === 0x50 && bytes[1] === 0x4b) return await fromArchive(bytes, where);
    const file = new HdfFile(buffer, where);
    if (!('layer_names' in file.attrs) && file.keys.includes('layers')) {
      throw new Error('it contains the weights of Keras 3 without their names; save as .keras');
    }
    const model = jsonOf(file.attrs.model_config, 'model_config');
    const training = jsonOf(file.attrs.training_config, 'training_config') as
      TrainingConfig | undefined;
    const isModel = file.keys.includes('model_weights');
    const weights = isModel ? (file.get('model_weights') as Group) : file;
    const optimizer = file.keys.includes('optimizer_weights')
      ? (file.get('optimizer_weights') as Group)
      : undefined;
    return {
      ...(model && { modelTopology: model }),
      ...(training && { trainingConfig: training }),
      format: 'layers-model',
      generatedBy,
      ...encodeWeights(readTensors(reader(buffer), weights, optimizer, training)),
    };
  } catch (error) {
    // The HDF5 reader throws strings, and engine errors on damaged bytes.
    const reason = isEngineError(error) ? 'it is damaged' : reasonOf(error);
    throw new LatheError(`${where}: no Keras file that can be read: ${reason}`, { cause: error });
  }
}

async function fromArchive(bytes: Uint8Array, where: string): Promise<ModelArtifacts> {
  const { config, version, weights } = await readArchive(bytes);
  const file = new HdfFile(weights, where);
  const model = topologyOf(config, version);
  const variables = variablesOf(config, file);
  const readDataset = reader(weights);
  const tensors = variables.map(({ name, dataset }): NamedArray => ({
    name,
    ...readDataset(dataset, name),
  }));
  try {
    const { steps, slots } = slotsIn(file, model.trainingConfig, variables);
    const count = Int32Array.of(steps === undefined ? 0 : Number(steps.value[0]));
    const group = 'optimizer';
    const iter: NamedArray = { name: 'iter', shape: [], dtype: 'int32', data: count, group };
    if (slots.length > 0) tensors.push(iter);
    for (const { name, dataset, divisor } of slots) {
      tensors.push({ name, ...readDataset(dataset, name, divisor), group });
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    console.warn(`tensorlathe: ${where} is loaded without the state of its optimizer: ${reason}`);
  }
  return { ...model, format: 'layers-model', generatedBy, ...encodeWeights(tensors) };
}

function jsonOf(value: unknown, what: string): Record<string, unknown> | undefined {
  if (value === undefined || value === null) return undefined;
  const json: unknown = JSON.parse(String(value).replace(/\0+$/, ''));
  if (!isObject(json)) throw new Error(`${what} is no object`);
  return json;
}

/** A list of names; long ones are split into NAME0, NAME1, … */
function namesOf(attrs: Record<string, unknown>, name: string): string[] {
  const parts = Object.hasOwn(attrs, name) ? [attrs[name]] : [];
  for (let at = 0; `${name}${at}` in attrs; ++at) parts.push(attrs[`${name}${at}`]);
  if (parts.length === 0) throw new Error(`it has no ${name}`);
  return parts.flat().map((each) => String(each).replace(/\0+$/, ''));
}

/** The tensors of a file, by their names in TensorFlow.js. */
function readTensors(
  readDataset: Reader,
  ofWeights: Group,
  ofOptimizer: Group | undefined,
  training: TrainingConfig | undefined,
): NamedArray[] {
  const layers = namesOf(ofWeights.attrs, 'layer_names').map((name) => {
    const part = ofWeights.get(name) as Group;
    return { name, part, weights: namesOf(part.attrs, 'weight_names') };
  });
  const named = layers.map(({ name, weights }) => ({ name, weights }));
  const optimizer = ofOptimizer === undefined ? [] : namesOf(ofOptimizer.attrs, 'weight_names');
  const question = { layers: named, optimizer, training };
  const { weights, steps, slots } = queryFormats<KerasTensors>(
    'lathe_keras_tensors',
    question,
    'fromKeras',
  );
  const readTensor = (group: Group, path: string, divisor?: number) => {
    const dataset = group.get(path);
    if (!(dataset instanceof Dataset)) throw new Error(`the tensor ${path} is not there`);
    return readDataset(dataset, path, divisor);
  };
  const read = layers.flatMap((layer) =>
    layer.weights.map((path) => ({ name: weights.shift()!, ...readTensor(layer.part, path) })),
  );
  if (slots.length === 0) return read;
  const group = 'optimizer';
  const of = (at: number, divisor?: number) => readTensor(ofOptimizer!, optimizer[at]!, divisor);
  const count = Int32Array.of(steps === null ? 0 : of(steps).data[0]!);
  const gathered = slots.map(({ path, name, divisor }): NamedArray => {
    return { name, ...of(path, divisor ?? 1), group };
  });
  return [...read, { name: 'iter', shape: [], dtype: 'int32', data: count, group }, ...gathered];
}

type Reader = (dataset: Dataset, path: string, divisor?: number) => Omit<NamedArray, 'name'>;

/** A byte of deflated data expands to up to 1,032 (RFC 1951: 258 bytes for two bits). */
const maxPerByte = 1032;

/** A reader of the file's datasets. Error: together they declare more than its bytes can contain, as absent chunks do. */
function reader({ byteLength }: ArrayBuffer): Reader {
  let left = byteLength * maxPerByte;
  return (dataset, path, divisor) => {
    left -= elementCount(dataset.shape);
    if (!(left >= 0)) {
      throw new Error(
        `the tensor ${path} [${dataset.shape.join(',')}] is more than ${byteLength} bytes can contain`,
      );
    }
    return readDataset(dataset, path, divisor);
  };
}

function readDataset(dataset: Dataset, path: string, divisor = 1): Omit<NamedArray, 'name'> {
  const shape = [...dataset.shape];
  const { value } = dataset;
  const data = new Float32Array(value.length);
  for (let at = 0; at < data.length; at += 1) data[at] = Number(value[at]) / divisor;
  if (data.length !== elementCount(shape)) {
    throw new Error(`the tensor ${path} has ${data.length} values, not [${shape.join(',')}]`);
  }
  return { shape, dtype: 'float32', data };
}
