/** Names of layers as TensorFlow.js needs them: there weights go by their layers alone, whatever models are around these. */
import type { ModelConfig, Reference } from '../core/abi.js';
import { OpenModel } from '../core/open_model.js';
import { nameStem } from '../layers/layer.js';
import type { StoredModel } from '../train/storable.js';

/** A layer as the core reads it. */
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
 * The model with other numbers at the ends of names that models gave to layers, where one within a nested model is called as
 * one elsewhere.
 */
export function withDistinctNames(stored: StoredModel): StoredModel {
  const config = structuredClone(stored.config) as ModelConfig & DescribedModel;
  const models = [config, ...within(config)];
  const taken = new Set(models.flatMap(({ layers }) => layers.map((each) => each.config.name)));
  const seen = new Set<string>();
  for (const model of models) {
    for (const layer of model.layers) {
      const { name } = layer.config;
      const free = freeName(nameStem(layer.class), taken);
      if (seen.has(name) && free.replace(/\d+$/, '') === name.replace(/\d+$/, '')) {
        rename(model, layer, free);
        taken.add(free);
      } else seen.add(name);
    }
  }
  return models.length > 1 ? renamed(stored, config) : stored;
}

/** The models in a model, at any depth. */
function within({ layers }: DescribedModel): DescribedModel[] {
  return layers.flatMap(({ class: className, config }) => {
    if (className === 'TimeDistributed') return within({ layers: [config.layer!] });
    if (!/^(Model|Sequential)$/.test(className)) return [];
    const model = config as unknown as DescribedModel;
    return [model, ...within(model)];
  });
}

function freeName(stem: string, taken: ReadonlySet<string>): string {
  let number = 1;
  while (taken.has(`${stem}${number}`)) ++number;
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

/** The model as this config calls its layers. */
function renamed(stored: StoredModel, config: ModelConfig): StoredModel {
  const model = new OpenModel(config);
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
