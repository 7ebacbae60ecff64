/** Prints the table of a model's layers as TensorFlow.js does. */
import { LatheError } from '../base/errors.js';
import { elementCount } from '../base/shape.js';
import type { ModelSummary } from '../core/abi.js';
import type { LayerCall } from '../layers/layer.js';
import type { ModelStructure } from './model_args.js';

type Print = (line: string) => void;

const shapesOf = (tensors: readonly { shape: unknown }[]) =>
  JSON.stringify(tensors.map(({ shape }) => shape));

/** Whether the model is a chain: every layer has one call, one input and one consumer. */
function isRow({ layers, calls }: ModelStructure): boolean {
  if (calls === undefined) return true;
  const read = calls.flatMap(({ inputs }) => inputs);
  return (
    calls.length === layers.length &&
    calls.every(({ inputs }) => inputs.length < 2) &&
    new Set(read).size === read.length
  );
}

/**
 * A line per layer: input shape, output shape, number of parameters; if the model is not a chain also the layers it reads.
 * `frozen`: prefixes of the names of weights that are not trainable. `positions`: the ends of the columns, in characters or as
 * fractions of the line.
 */
export function printSummary(
  structure: ModelStructure,
  summary: ModelSummary,
  frozen: readonly string[],
  lineLength: number | undefined,
  positions: readonly number[] | undefined,
  print: Print = console.log,
): void {
  if (typeof lineLength === 'function') {
    throw new LatheError('summary: printFn is the third argument, after lineLength and positions');
  }
  const row = isRow(structure);
  const width = lineLength || (row ? 90 : 115);
  const columnEnds = positions ?? (row ? [0.32, 0.61, 0.89, 1] : [0.24, 0.48, 0.7, 0.8, 1]);
  const ends =
    columnEnds.at(-1)! <= 1 ? columnEnds.map((end) => Math.floor(width * end)) : columnEnds;
  const printRow = (fields: readonly string[]) => {
    let line = '';
    for (const [at, field] of fields.entries()) {
      line = `${at > 0 ? `${line.slice(0, -1)} ` : ''}${field}`
        .slice(0, ends[at])
        .padEnd(ends[at]!);
    }
    print(line);
  };
  const title = ['Layer (type)', 'Input Shape', 'Output shape', 'Param #'];
  print('_'.repeat(width));
  printRow(row ? title : [...title, 'Receives inputs']);
  print('='.repeat(width));
  const { layers, calls } = structure;
  for (const [at, { name, layer }] of layers.entries()) {
    const { inboundNodes } = layer;
    const isIn = (call: LayerCall) => calls?.includes(call) ?? true;
    const read = inboundNodes.map(({ inputs, outputs }) =>
      shapesOf(inputs.length > 0 ? inputs : outputs),
    );
    const shapes = new Set(inboundNodes.map(({ outputs }) => shapesOf(outputs)));
    const [first] = [...shapes];
    const outputShape =
      shapes.size > 1 ? 'multiple' : JSON.parse(first!).length > 1 ? first! : first!.slice(1, -1);
    const { params = 0 } = summary.layers.find((each) => each.name === name) ?? {};
    const from = inboundNodes.filter(isIn).flatMap(({ inputs }) => inputs);
    const [firstInput = '', ...others] = row
      ? []
      : from.map((each) => `${each.sourceLayer.name}[${each.nodeIndex}][${each.tensorIndex}]`);
    const fields = [
      `${name} (${layer.getClassName()})`,
      read.join(','),
      outputShape,
      String(params),
    ];
    printRow(row ? fields : [...fields, firstInput]);
    for (const other of others) printRow(['', '', '', '', other]);
    print((at === layers.length - 1 ? '=' : '_').repeat(width));
  }
  const { totalParams, weights } = summary;
  const learns = ({ name, trainable }: { name: string; trainable: boolean }) =>
    trainable && !frozen.some((path) => name.startsWith(path));
  const trainableParams = weights
    .filter(learns)
    .reduce((total, { shape }) => total + elementCount(shape), 0);
  print(`Total params: ${totalParams}`);
  print(`Trainable params: ${trainableParams}`);
  print(`Non-trainable params: ${totalParams - trainableParams}`);
  print('_'.repeat(width));
}
