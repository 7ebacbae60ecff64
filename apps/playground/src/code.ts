// Networks as JavaScript: writes the code of a network, runs what a person has written, and tells whether that is a row of layers.
import * as tl from 'tensorlathe';
import type { DataSet } from './data/data_set';
import { type LayerSpec, type Network, placed, type RowNetwork } from './network';
import { layerRow } from './tables';

/** A model as `coreConfig` describes it. */
export interface Description {
  name?: string;
  layers: (LayerSpec & { inputs?: [string, number?, number?][][] })[];
  inputs?: { name: string; shape: number[] }[];
  outputs?: [string, number?, number?][];
}

const head = '// `tl` is the package; `data` tells shape and classes of the data.\n';
const longestLine = 62;

const isLayer = (value: unknown): value is LayerSpec =>
  typeof value === 'object' && value !== null && 'class' in value && 'config' in value;

function spell(value: unknown): string {
  if (isLayer(value)) return spellLayer(value);
  if (Array.isArray(value)) return `[${value.map(spell).join(', ')}]`;
  // JSON escapes what would end the line.
  if (typeof value === 'string')
    return `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
  if (typeof value !== 'object' || value === null) return String(value);
  const fields = Object.entries(value).map(([name, each]) => {
    const key = /^[a-z]\w*$/i.test(name) ? name : `[${spell(name)}]`;
    return `${key}: ${spell(each)}`;
  });
  return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`;
}

/** The call that makes the layer, without what is as it would be anyway. */
function spellLayer({ class: className, config }: LayerSpec, indent = ''): string {
  const row = layerRow(className);
  if (row === undefined) throw new Error(`layers of class ${className} cannot be written as code`);
  const given = Object.entries(config).filter(([name, value]) => {
    const standard = row.options.find((option) => option.name === name)?.default;
    return value !== undefined && JSON.stringify(value) !== JSON.stringify(standard ?? null);
  });
  if (given.length === 0) return `tl.layers.${row.name}()`;
  const short = spell(Object.fromEntries(given));
  if (short.length + indent.length + row.name.length < longestLine) {
    return `tl.layers.${row.name}(${short})`;
  }
  const lines = given.map(([name, value]) => `${indent}  ${name}: ${spell(value)},\n`);
  return `tl.layers.${row.name}({\n${lines.join('')}${indent}})`;
}

/** The code that builds these layers. */
export function codeOfRow(layers: readonly LayerSpec[], data: DataSet): string {
  const lines = placed(layers, data).map((layer) => `    ${spellLayer(layer, '    ')},\n`);
  return `${head}return tl.sequential({\n  layers: [\n${lines.join('')}  ],\n});\n`;
}

/** The code of a graph of layers: each call as soon as what it reads is there. Error: layers that cannot be written as code. */
export function codeOfGraph({ layers, inputs = [], outputs = [] }: Description): string {
  const names = new Map<string, string>();
  const nameOf = (text: string) => {
    const stem = text.replace(/\W/g, '_').replace(/^(\d)/, '_$1');
    if (!names.has(text)) names.set(text, stem);
    return names.get(text)!;
  };
  const resultOf = (name: string, call: number) =>
    `${nameOf(name)}${call === 0 ? '' : `_${call + 1}`}`;
  const lines = inputs.map(
    ({ name, shape }) =>
      `const ${nameOf(name)} = tl.input({ shape: [${shape}], name: ${spell(name)} });`,
  );
  const ready = new Set(inputs.map(({ name }) => `${name}/0`));
  const calls = layers.flatMap((layer) =>
    (layer.inputs ?? []).map((reads, call) => ({ layer, reads, call })),
  );
  const made = new Set<LayerSpec>();
  for (let before = -1; calls.length > 0 && before !== calls.length;) {
    before = calls.length;
    for (const each of [...calls]) {
      const { layer, reads, call } = each;
      if (!reads.every(([name, at = 0]) => ready.has(`${name}/${at}`))) continue;
      const name = String(layer.config.name);
      const maker = `${nameOf(name)}_layer`;
      if (!made.has(layer)) lines.push(`const ${maker} = ${spellLayer(layer)};`);
      made.add(layer);
      const read = reads.map(([from, at = 0, output = 0]) => {
        if (output > 0) throw new Error('layers with several outputs cannot be written as code');
        return resultOf(from, at);
      });
      const argument = read.length === 1 ? read[0]! : `[${read.join(', ')}]`;
      lines.push(`const ${resultOf(name, call)} = ${maker}.apply(${argument});`);
      ready.add(`${name}/${call}`);
      calls.splice(calls.indexOf(each), 1);
    }
  }
  const ends = outputs.map(([name, call = 0]) => resultOf(name, call)).join(', ');
  const starts = inputs.map(({ name }) => nameOf(name)).join(', ');
  lines.push(`return tl.model({ inputs: [${starts}], outputs: [${ends}] });`);
  return `${head}${lines.join('\n')}\n`;
}

/** Runs code that builds a model. Errors: it throws, does not parse, or gives no model. */
export function runCode(
  code: string,
  { shape, classes, target }: Pick<DataSet, 'shape' | 'classes' | 'target'>,
): tl.LayersModel {
  const data = { shape: [...shape], classes: classes && [...classes], target };
  const made: unknown = new Function('tl', 'data', `"use strict";\n${code}`)(tl, data);
  if (made instanceof tl.LayersModel) return made;
  throw new Error(
    'The code must end with return and the model: return tl.sequential({ layers: [ … ] });',
  );
}

/** A name that the page would give as well says nothing. */
const isGivenName = (name: unknown, className: string) =>
  typeof name === 'string' && !new RegExp(`^${className}_(${className})?\\d+$`, 'i').test(name);

/** What a model is made of, without weights. */
export const descriptionOf = (model: tl.LayersModel) =>
  JSON.parse(JSON.stringify(model.coreConfig)) as Description;

/** Whether layers in JavaScript are part of what is described. */
export function hasOwnLayers(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return ('class' in value && 'host' in value) || Object.values(value).some(hasOwnLayers);
}

/** A description as a row of layers, unless it is a graph or has layers that the page does not know. */
export function rowOf(
  { inputs, layers }: Description,
  data: DataSet,
  code?: string,
): RowNetwork | undefined {
  const isPlain = layers.every(({ class: name }) => layerRow(name) !== undefined);
  if (inputs !== undefined || !isPlain || layers.length === 0) return undefined;
  const specs = layers.map(({ class: className, config: { name, ...config } }) => ({
    class: className,
    config: isGivenName(name, className) ? { ...config, name } : config,
  }));
  const [first] = specs;
  if (String(first?.config.inputShape) === String(data.shape)) delete first!.config.inputShape;
  return { layers: specs, ...(code === undefined ? {} : { code }) };
}

/** The network of a model: a row of layers where it is one, else code that makes the same. */
export function networkOf(model: tl.LayersModel, data: DataSet): Network {
  const description = descriptionOf(model);
  return rowOf(description, data) ?? { code: codeOfGraph(description) };
}
