/**
 * The formats of Keras 3: .keras archives, and HDF5 weight files, whose groups are the attributes of
 * Python objects: layers/bidirectional/forward_layer/cell/vars/0.
 */
import { Dataset, Group } from 'jsfive';
import { TextDecoder } from '../base/text.js';
import { recurrentCells } from '../layers/layer_classes.js';
import { isObject, type ModelArtifacts, type TrainingConfig } from './artifacts.js';
import { openZip } from './zip.js';

/** An object of a configuration. */
interface KerasObject {
  class_name: string;
  config: Record<string, unknown> & { name?: string };
  compile_config?: unknown;
}

/** A dataset by the name of its weight, or by the path and index of the weight: "dense/0". */
export interface KerasVariable {
  name: string;
  dataset: Dataset;
  /** Whether optimizers have slots for it. */
  isTrained: boolean;
}

/** An optimizer slot: the names of its variable and of the slot, and the divisor of its values. */
export interface KerasSlot {
  name: string;
  dataset: Dataset;
  divisor?: number;
}

/** The parts of an archive. Error: damaged, or weights that are not HDF5. */
export async function readArchive(
  bytes: Uint8Array,
): Promise<{ config: KerasObject; version: unknown; weights: ArrayBuffer }> {
  const archive = openZip(bytes);
  const json = async (name: string) => {
    const parsed: unknown = JSON.parse(new TextDecoder().decode(await archive.read(name)));
    if (!isObject(parsed)) throw new Error(`${name} is no object`);
    return parsed;
  };
  const config = await json('config.json');
  const hasMetadata = archive.names.includes('metadata.json');
  const metadata = hasMetadata ? await json('metadata.json') : {};
  const name = 'model.weights.h5';
  if (!archive.names.includes(name)) {
    throw new Error(`it has no ${name}, but ${archive.names.join(', ')}`);
  }
  const { buffer } = await archive.read(name);
  return { config: checked(config), version: metadata.keras_version, weights: buffer };
}

/** Topology and training configuration in the format of Keras 2. */
export function topologyOf(config: KerasObject, version: unknown): ModelArtifacts {
  const { compile_config: compiled, ...model } = config;
  const training = isObject(compiled) ? trainingOf(compiled) : undefined;
  return {
    modelTopology: { keras_version: version ?? '3', backend: 'tensorflow', model_config: model },
    ...(training && { trainingConfig: training }),
  };
}

function trainingOf({
  optimizer,
  loss,
  loss_weights,
  metrics,
}: Record<string, unknown>): TrainingConfig | undefined {
  if (loss === undefined || loss === null) return undefined;
  const described = isObject(optimizer) ? optimizer : { class_name: optimizer };
  const config = isObject(described.config) ? described.config : {};
  return {
    loss,
    loss_weights,
    metrics: metrics ?? [],
    optimizer_config: { class_name: described.class_name, config },
  };
}

function checked(value: unknown): KerasObject {
  const isSound = isObject(value) && typeof value.class_name === 'string' && isObject(value.config);
  if (!isSound) throw new Error(`${JSON.stringify(value)?.slice(0, 80)} has no class or no config`);
  return value as unknown as KerasObject;
}

const isModel = ({ config }: KerasObject) => Array.isArray(config.layers);

/** The group name of a class in Keras: LSTMCell -> lstm_cell. */
const snakeCase = (name: string) =>
  name
    .replace(/^.*>/, '')
    .replace(/\W+/g, '')
    .replace(/(.)([A-Z][a-z]+)/g, '$1_$2')
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase();

function groupIn(group: Group | undefined, ...names: string[]): Group | undefined {
  const name = names.find((each) => group?.keys.includes(each));
  const found = name === undefined ? undefined : group!.get(name);
  return found instanceof Group ? found : undefined;
}

/** The groups of objects in a container: CLASS, CLASS_1, … in the order of the objects of the class. */
function groupsOf(container: Group | undefined, objects: KerasObject[]): (Group | undefined)[] {
  const classes = objects.map(({ class_name }) => snakeCase(class_name));
  const keys = container?.keys ?? [];
  const named = objects.map(({ config }) => String(config.name));
  return objects.map((_, at) => {
    const base = classes[at]!;
    const same = keys
      .filter(
        (key) =>
          key === base || (key.startsWith(`${base}_`) && /^\d+$/.test(key.slice(base.length + 1))),
      )
      .sort((a, b) => Number(a.slice(base.length + 1)) - Number(b.slice(base.length + 1)));
    const sameClass = classes.flatMap((each, index) => (each === base ? [index] : []));
    // Some versions omit layers without weights, or name groups by layers.
    if (same.length !== sameClass.length) return groupIn(container, named[at]!);
    return groupIn(container, same[sameClass.indexOf(at)]!);
  });
}

/** The variables of a model, in the order of Keras's list of weights, grouped by layer. */
export function variablesOf(model: KerasObject, file: Group): KerasVariable[] {
  const found: KerasVariable[] = [];
  const seen = new Set<Group>();
  const visit = (object: KerasObject, group: Group | undefined, path: string, trains: boolean) => {
    const { class_name: kind, config } = object;
    const isTrained = trains && config.trainable !== false;
    if (isModel(object)) {
      const layers = (config.layers as unknown[]).map(checked);
      const groups = groupsOf(groupIn(group, 'layers', '_layer_checkpoint_dependencies'), layers);
      layers.forEach((layer, at) => {
        const name = String(layer.config.name);
        visit(layer, groups[at], path === '' ? name : `${path}/${name}`, isTrained);
      });
      return;
    }
    if (group === undefined || seen.has(group)) return;
    seen.add(group);
    const ownVars = groupIn(group, 'vars');
    const keys = [...(ownVars?.keys ?? [])].sort((a, b) => Number(a) - Number(b));
    keys.forEach((key) => {
      const isMoving = kind === 'BatchNormalization' && Number(key) >= keys.length - 2;
      const dataset = ownVars!.get(key) as Dataset;
      found.push({ name: `${path}/${key}`, dataset, isTrained: isTrained && !isMoving });
    });
    for (const [attribute, object, inner] of partsOf(kind, config, path)) {
      visit(object, groupIn(group, attribute, `_${attribute}`), inner, isTrained);
    }
    const cells = kind === 'StackedRNNCells' ? (config.cells as unknown[]).map(checked) : [];
    const groups = groupsOf(groupIn(group, 'cells'), cells);
    cells.forEach((cell, at) => visit(cell, groups[at], `${path}/RNNCell_${at}`, isTrained));
  };
  visit(model, file, '', true);
  return found;
}

/** The sub-objects of a layer: attribute, object, and path of its weights. */
function partsOf(
  kind: string,
  { layer, cell, backward_layer: backward }: KerasObject['config'],
  path: string,
): [attribute: string, object: KerasObject, path: string][] {
  const plain = (name: string) => ({ class_name: name, config: {} });
  if (kind === 'Bidirectional') {
    const [first, second] = [checked(layer), checked(backward ?? layer)];
    return [
      ['forward_layer', first, `${path}/forward_${first.config.name}`],
      ['backward_layer', second, `${path}/backward_${first.config.name}`],
    ];
  }
  if (kind === 'TimeDistributed') return [['layer', checked(layer), path]];
  if (kind === 'RNN') return [['cell', checked(cell), path]];
  if ((recurrentCells[kind] ?? kind) !== kind) return [['cell', plain('Cell'), path]];
  if (kind !== 'MultiHeadAttention') return [];
  const dense = { query: 'query', key: 'key', value: 'value', output: 'attention_output' };
  return Object.entries(dense).map(([name, ours]) => [
    `${name}_dense`,
    plain('EinsumDense'),
    `${path}/${ours}`,
  ]);
}

/** The slots of each optimizer class in the order of Keras: grouped by variable, or by slot. */
const slotsOf: Record<string, { slots: string[]; isTogether: boolean }> = {
  Adam: { slots: ['m', 'v'], isTogether: true },
  AdamW: { slots: ['m', 'v'], isTogether: true },
  Adamax: { slots: ['m', 'v'], isTogether: true },
  Adadelta: { slots: ['accum_grad', 'accum_var'], isTogether: true },
  Adagrad: { slots: ['accumulator'], isTogether: true },
  SGD: { slots: ['momentum'], isTogether: true },
  RMSprop: { slots: ['rms', 'momentum', 'mg'], isTogether: false },
};

/**
 * The optimizer state; empty without slots. Error: an unsupported class, or
 * unexpected tensors.
 */
export function slotsIn(
  file: Group,
  training: TrainingConfig | undefined,
  variables: KerasVariable[],
): { steps?: Dataset; slots: KerasSlot[] } {
  const group = groupIn(groupIn(file, 'optimizer'), 'vars');
  const { class_name: kind, config = {} } = training?.optimizer_config ?? {};
  if (group === undefined || training === undefined) return { slots: [] };
  const all = [...group.keys]
    .sort((a, b) => Number(a) - Number(b))
    .map((key) => group.get(key) as Dataset);
  // The step count and the learning rate; a schedule is not a variable.
  const first = all.findIndex(({ shape }, at) => at > 0 && shape.length > 0);
  const tensors = first < 0 ? [] : all.slice(first);
  if (tensors.length === 0) return { steps: all[0], slots: [] };
  const trained = variables.filter(({ isTrained }) => isTrained);
  const optimizerSlots = slotsOf[String(kind)];
  const slots = (optimizerSlots?.slots ?? []).filter((slot) => {
    if (kind !== 'RMSprop' || slot === 'rms') return true;
    return slot === 'mg' ? config.centered === true : Number(config.momentum) > 0;
  });
  const fits = tensors.length === trained.length * slots.length;
  if (optimizerSlots === undefined || !fits) {
    throw new Error(`${tensors.length} tensors of ${String(kind)} for ${trained.length} weights`);
  }
  const rate = Number(config.learning_rate);
  const divisor = kind === 'SGD' ? -rate : undefined;
  const found = slots.flatMap((slot, row) =>
    trained.map(({ name, dataset: of }, at): KerasSlot => {
      const index = optimizerSlots.isTogether ? at * slots.length + row : row * trained.length + at;
      const dataset = tensors[index]!;
      if (String(dataset.shape) !== String(of.shape)) {
        throw new Error(`${slot} of ${name} has shape [${dataset.shape}], not [${of.shape}]`);
      }
      return { name: `${name}/${slot}`, dataset, divisor };
    }),
  );
  return { steps: all[0], slots: kind === 'SGD' && !(Number(config.momentum) > 0) ? [] : found };
}
