// ONNX files: their graph is read from the file itself, and the package runs it.
import * as tl from 'tensorlathe';
import { formatInteger } from '../dom';
import {
  fixedShape,
  type GraphNode,
  type ModelGraph,
  type PartTime,
  type Port,
  repeat,
  shapeText,
} from './model_graph';
import { fieldsOf, numbersOf, textOf } from './protobuf';

interface Parsed {
  nodes: GraphNode[];
  inputs: string[];
  shapes: Map<string, string>;
  weights: Map<string, number>;
  facts: [string, string][];
}

/** Dimensions of a TypeProto of a tensor. */
function shapeOf(type: Uint8Array): string {
  const sizes: (number | string)[] = [];
  for (const tensor of fieldsOf(type)) {
    if (tensor.number !== 1 || tensor.bytes === undefined) continue;
    for (const part of fieldsOf(tensor.bytes)) {
      if (part.number !== 2 || part.bytes === undefined) continue;
      for (const size of fieldsOf(part.bytes)) {
        const fields = [...fieldsOf(size.bytes!)];
        sizes.push(fields.map((each) => (each.number === 1 ? each.value : textOf(each)))[0] ?? '?');
      }
    }
  }
  return shapeText(sizes);
}

/** Name and value of an attribute; of tensors and graphs only that it is one. */
function attributeOf(bytes: Uint8Array): [string, string] {
  let [name, value] = ['', ''];
  const numbers: number[] = [];
  for (const field of fieldsOf(bytes)) {
    const { number, bytes: data } = field;
    if (number === 1) name = textOf(field);
    else if (number === 2 && data)
      value = String(
        +new DataView(data.buffer, data.byteOffset).getFloat32(0, true).toPrecision(6),
      );
    else if (number === 3) value = String(field.value);
    else if (number === 4) value = textOf(field).slice(0, 80);
    else if (number === 5) value = 'a tensor';
    else if (number === 6) value = 'a graph';
    else if (number === 8) numbers.push(...numbersOf(field));
  }
  return [name, numbers.length > 0 ? numbers.join(', ') : value];
}

function nodeOf(bytes: Uint8Array, at: number): GraphNode {
  const node: GraphNode = {
    name: '',
    operator: '',
    inputs: [],
    outputs: [],
    weights: 0,
    details: [],
  };
  for (const field of fieldsOf(bytes)) {
    if (field.number === 1) node.inputs.push(textOf(field));
    else if (field.number === 2) node.outputs.push(textOf(field));
    else if (field.number === 3) node.name = textOf(field);
    else if (field.number === 4) node.operator = textOf(field);
    else if (field.number === 5) node.details.push(attributeOf(field.bytes!));
  }
  node.name ||= `${node.operator} ${at + 1}`;
  return node;
}

function initializer(bytes: Uint8Array): [name: string, shape: number[]] {
  let name = '';
  const shape: number[] = [];
  for (const field of fieldsOf(bytes)) {
    if (field.number === 1) shape.push(...numbersOf(field));
    else if (field.number === 8) name = textOf(field);
  }
  return [name, shape];
}

/** The shape of the tensor that a Constant node holds. */
function constantShape(node: Uint8Array): number[] {
  for (const attribute of fieldsOf(node)) {
    if (attribute.number !== 5 || attribute.bytes === undefined) continue;
    for (const field of fieldsOf(attribute.bytes)) {
      if (field.number === 5 && field.bytes !== undefined) return initializer(field.bytes)[1];
    }
  }
  return [];
}

function valueInfo(bytes: Uint8Array): [name: string, shape: string] {
  let [name, shape] = ['', ''];
  for (const field of fieldsOf(bytes)) {
    if (field.number === 1) name = textOf(field);
    else if (field.number === 2) shape = shapeOf(field.bytes!);
  }
  return [name, shape];
}

/** Reads the graph of a model. Error: the bytes are no ONNX file. */
export function parseOnnx(bytes: Uint8Array): Parsed {
  const parsed: Parsed = {
    nodes: [],
    inputs: [],
    shapes: new Map(),
    weights: new Map(),
    facts: [],
  };
  const sizes = new Map<string, number[]>();
  for (const field of fieldsOf(bytes)) {
    if (field.number === 2) parsed.facts.push(['Producer', textOf(field)]);
    if (field.number === 8) {
      const [domain, version] = [1, 2].map((key) =>
        [...fieldsOf(field.bytes!)].find(({ number }) => number === key),
      );
      const name = domain === undefined ? '' : textOf(domain);
      if (version !== undefined)
        parsed.facts.push([`Operators ${name || 'of ONNX'}`, `version ${version.value}`]);
    }
    if (field.number !== 7 || field.bytes === undefined) continue;
    for (const part of fieldsOf(field.bytes)) {
      const data = part.bytes!;
      if (part.number === 1) {
        const node = nodeOf(data, parsed.nodes.length);
        if (node.operator !== 'Constant') parsed.nodes.push(node);
        else sizes.set(node.outputs[0]!, constantShape(data));
      }
      if (part.number === 5) sizes.set(...initializer(data));
      else if (part.number === 11 || part.number === 12 || part.number === 13) {
        const [name, shape] = valueInfo(data);
        parsed.shapes.set(name, shape);
        if (part.number === 11) parsed.inputs.push(name);
      }
    }
  }
  for (const [name, shape] of sizes)
    parsed.weights.set(
      name,
      shape.reduce((all, n) => all * n, 1),
    );
  for (const node of parsed.nodes) {
    for (const [at, input] of node.inputs.entries()) {
      const shape = sizes.get(input);
      if (shape === undefined) continue;
      node.weights += parsed.weights.get(input)!;
      node.details.push([`input ${at + 1}`, `weights ${shapeText(shape)}`]);
    }
    const shape = parsed.shapes.get(node.outputs[0] ?? '');
    if (shape !== undefined && shape !== '') node.shape = shape;
  }
  return parsed;
}

const portOf = ({ name, dtype, shape }: tl.ModelPort): Port => ({
  name,
  type: dtype,
  shape: (shape ?? []).map((size) => size ?? '?'),
});

/** Class names that some exporters write: {0: 'person', 1: 'bicycle', …}. */
function labelsOf({ names }: Readonly<Record<string, string>>): string[] | undefined {
  const found = [...(names ?? '').matchAll(/\d+: *['"]([^'"]+)['"]/g)].map(([, name]) => name!);
  return found.length > 0 ? found : undefined;
}

/** Times by group of fused operations: the model is a layer of one that is compiled with timers. */
async function timeOf(model: tl.OnnxModel, [input]: Port[]): Promise<PartTime[]> {
  const [, ...shape] = fixedShape(input!);
  const x = tl.input({ shape });
  const y = model.layer({ trainable: false }).apply(x) as tl.SymbolicTensor;
  const timed = tl.model({ inputs: x, outputs: y });
  try {
    timed.compile({ loss: 'meanSquaredError', optimizer: 'sgd', timing: 'equation' });
    const zeros = tl.zeros([1, ...shape]);
    timed.predict(zeros, { batchSize: 1 });
    tl.equationTimes(timed, { reset: true });
    await repeat(() => timed.predict(zeros, { batchSize: 1 }));
    const { calls, equations } = tl.equationTimes(timed).predict_1!;
    return equations
      .filter(({ phase, layer }) => phase === 'forward' && layer !== '(loss)')
      .map((each) => ({ name: each.equations.join(', '), ms: each.milliseconds / calls }))
      .sort((a, b) => b.ms - a.ms);
  } finally {
    timed.dispose();
  }
}

export async function openOnnx(file: File): Promise<ModelGraph> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const { nodes, weights, facts } = parseOnnx(bytes);
  const model = await tl.loadModel(bytes);
  const [inputs, outputs] = [model.inputs.map(portOf), model.outputs.map(portOf)];
  const count = [...weights.values()].reduce((sum, each) => sum + each, 0);
  const labels = labelsOf(model.metadata);
  return {
    name: file.name,
    facts: [['Format', 'ONNX'], ...facts, ['Weights', formatInteger(count)]],
    inputs,
    outputs,
    nodes,
    ...(labels === undefined ? {} : { labels }),
    async run(values, shape) {
      const results = await model.run({ [inputs[0]!.name]: tl.tensor(values, [...shape]) });
      return (results[outputs[0]!.name] as tl.Tensor).dataSync() as Float32Array;
    },
    time: () => timeOf(model, inputs),
    dispose: () => model.dispose(),
  };
}
