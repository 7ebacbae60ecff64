// Networks as JavaScript: generates the code of a network, runs code of the user, and detects whether it is a sequential model.
import * as tl from 'tensorlathe';
import type { DataSet } from './data/data_set';
import { type LayerSpec, type Network, withInputShape, type RowNetwork } from './network';
import { layerRow } from './tables';

/** A model as `coreConfig` describes it. */
export interface Description {
  name?: string;
  layers: (LayerSpec & { inputs?: [string, number?, number?][][] })[];
  inputs?: { name: string; shape: number[] }[];
  outputs?: [string, number?, number?][];
}

const head = '// `tl` is the package; `data` has the shape and classes of the data.\n';
const longestLine = 62;

const isLayer = (value: unknown): value is LayerSpec =>
  typeof value === 'object' && value !== null && 'class' in value && 'config' in value;

function literal(value: unknown): string {
  if (isLayer(value)) return layerCode(value);
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  // JSON escapes line terminators.
  if (typeof value === 'string')
    return `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
  if (typeof value !== 'object' || value === null) return String(value);
  const fields = Object.entries(value).map(([name, each]) => {
    const key = /^[a-z]\w*$/i.test(name) ? name : `[${literal(name)}]`;
    return `${key}: ${literal(each)}`;
  });
  return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`;
}

/** The call that creates the layer, without options at their defaults. */
function layerCode({ class: className, config }: LayerSpec, indent = ''): string {
  const row = layerRow(className);
  if (row === undefined)
    throw new Error(`layers of class ${className} cannot be expressed as code`);
  const options = Object.entries(config).filter(([name, value]) => {
    const standard = row.options.find((option) => option.name === name)?.default;
    return value !== undefined && JSON.stringify(value) !== JSON.stringify(standard ?? null);
  });
  if (options.length === 0) return `tl.layers.${row.name}()`;
  const short = literal(Object.fromEntries(options));
  if (short.length + indent.length + row.name.length < longestLine) {
    return `tl.layers.${row.name}(${short})`;
  }
  const lines = options.map(([name, value]) => `${indent}  ${name}: ${literal(value)},\n`);
  return `tl.layers.${row.name}({\n${lines.join('')}${indent}})`;
}

/** The code that builds these layers. */
export function codeOfRow(layers: readonly LayerSpec[], data: DataSet): string {
  const lines = withInputShape(layers, data).map((layer) => `    ${layerCode(layer, '    ')},\n`);
  return `${head}return tl.sequential({\n  layers: [\n${lines.join('')}  ],\n});\n`;
}

/** The code of a graph of layers, calls in topological order. Error: layers that cannot be expressed as code. */
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
      `const ${nameOf(name)} = tl.input({ shape: [${shape}], name: ${literal(name)} });`,
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
      if (!made.has(layer)) lines.push(`const ${maker} = ${layerCode(layer)};`);
      made.add(layer);
      const read = reads.map(([from, at = 0, output = 0]) => {
        if (output > 0) throw new Error('layers with several outputs cannot be expressed as code');
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

/** Runs code that builds a model. Errors: it throws, does not parse, or returns no model. */
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

/** Whether a name equals the default name of its class. */
const isDefaultName = (name: unknown, className: string) =>
  typeof name === 'string' && !new RegExp(`^${className}_(${className})?\\d+$`, 'i').test(name);

/** The configuration of a model, without weights. */
export const descriptionOf = (model: tl.LayersModel) =>
  JSON.parse(JSON.stringify(model.coreConfig)) as Description;

/** Whether a description contains custom layers. */
export function hasCustomLayers(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return ('class' in value && 'host' in value) || Object.values(value).some(hasCustomLayers);
}

/** A description as a sequential network; undefined if it is a graph or has unsupported layers. */
export function rowOf(
  { inputs, layers }: Description,
  data: DataSet,
  code?: string,
): RowNetwork | undefined {
  const isPlain = layers.every(({ class: name }) => layerRow(name) !== undefined);
  if (inputs !== undefined || !isPlain || layers.length === 0) return undefined;
  const specs = layers.map(({ class: className, config: { name, ...config } }) => ({
    class: className,
    config: isDefaultName(name, className) ? { ...config, name } : config,
  }));
  const [first] = specs;
  if (String(first?.config.inputShape) === String(data.shape)) delete first!.config.inputShape;
  return { layers: specs, ...(code === undefined ? {} : { code }) };
}

/** The network of a model: sequential if possible, otherwise code that builds the same model. */
export function networkOf(model: tl.LayersModel, data: DataSet): Network {
  const description = descriptionOf(model);
  return rowOf(description, data) ?? { code: codeOfGraph(description) };
}
