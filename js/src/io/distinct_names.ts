/** Unique names of layers, as TensorFlow.js requires: its weight names contain the layer, but not the enclosing models. */
import type { ModelConfig, Reference } from '../core/abi.js';
import { DynamicModel } from '../core/dynamic_model.js';
import { nameStem } from '../layers/layer_names.js';
import type { StoredModel } from '../train/storable.js';

/** A layer in the JSON of the core. */
interface Described {
  class: string;
  config: { name: string; layer?: Described };
  inputs?: Reference[][];
}

interface DescribedModel {
  layers: Described[];
  outputs?: Reference[];
}

/**
 * The model with other numeric suffixes on generated layer names, where a layer of a nested model has the same name as
 * one elsewhere.
 */
export function withDistinctNames(stored: StoredModel): StoredModel {
  const config = structuredClone(stored.config) as ModelConfig & DescribedModel;
  const models = [config, ...within(config)];
  const usedNames = new Set(models.flatMap(({ layers }) => layers.map((each) => each.config.name)));
  const seen = new Set<string>();
  for (const model of models) {
    for (const layer of model.layers) {
      const { name } = layer.config;
      const free = freeName(nameStem(layer.class), usedNames);
      if (seen.has(name) && free.replace(/\d+$/, '') === name.replace(/\d+$/, '')) {
        rename(model, layer, free);
        usedNames.add(free);
      } else seen.add(name);
    }
  }
  return models.length > 1 ? renamed(stored, config) : stored;
}

/** The nested models, at any depth. */
function within({ layers }: DescribedModel): DescribedModel[] {
  return layers.flatMap(({ class: className, config }) => {
    if (className === 'TimeDistributed') return within({ layers: [config.layer!] });
    if (!/^(Model|Sequential)$/.test(className)) return [];
    const model = config as unknown as DescribedModel;
    return [model, ...within(model)];
  });
}

function freeName(stem: string, usedNames: ReadonlySet<string>): string {
  let number = 1;
  while (usedNames.has(`${stem}${number}`)) ++number;
  return `${stem}${number}`;
}

function rename(model: DescribedModel, { config }: Described, name: string): void {
  const { name: before } = config;
  const renew = (references: Reference[] = []) => {
    references.forEach(([whose, ...rest], at) => {
      if (whose === before) references[at] = [name, ...rest];
    });
  };
  for (const { inputs = [] } of model.layers) inputs.forEach(renew);
  renew(model.outputs);
  config.name = name;
}

/** The model with the layer names of this config. */
function renamed(stored: StoredModel, config: ModelConfig): StoredModel {
  const model = new DynamicModel(config);
  const { summary } = model;
  model.free();
  const names = new Map(
    stored.summary.weights.map(({ name }, at) => [name, summary.weights[at]!.name]),
  );
  const renewed = (name: string): string => {
    const [, slot = '', weight = name] = /^(optimizer\/[^/]+\/)?(.*)$/.exec(name)!;
    return slot + (names.get(weight) ?? weight);
  };
  const states = stored.states.map((each) => ({ ...each, name: renewed(each.name) }));
  const weights = stored.weights.map(({ name, trainable }) => ({ name: renewed(name), trainable }));
  return { ...stored, config, summary, states, weights };
}
