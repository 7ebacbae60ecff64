/** Prints the table of a model's layers. */
import type { LayerSummary, ModelSummary } from '../core/abi.js';

const grouped = (count: number) => count.toLocaleString('en');
const shaped = (shape: readonly (number | null)[]) =>
  `[${shape.map((n) => n ?? 'null').join(',')}]`;

/**
 * One line per layer: name, shape of its result, number of its weights, and in a graph of layers what it
 * reads; then the totals.
 */
export function printSummary(
  model: ModelSummary,
  memoryBytes: number | undefined,
  print: (line: string) => void,
): void {
  const inputs = model.inputs.map(({ name, shape }) => [
    `${name} (InputLayer)`,
    shaped([null, ...shape]),
    '0',
    '',
  ]);
  const layers = model.layers.flatMap((layer) => layerRows(layer, ''));
  const isRow = model.layers.every(
    ({ inputs: calls }, at) =>
      calls.length === 1 &&
      calls[0]!.join() === (at === 0 ? model.inputs : model.layers)[Math.max(at - 1, 0)]!.name,
  );
  const head = ['Layer (type)', 'Output shape', 'Param #', 'Receives'];
  const columns = isRow ? 3 : 4;
  const table = [head, ...(isRow ? [] : inputs), ...layers].map((row) => row.slice(0, columns));
  const widths = head
    .slice(0, columns)
    .map((_, column) => Math.max(...table.map((row) => row[column]!.length)));
  const line = (row: string[]) =>
    row
      .map((text, at) => (at === 2 ? text.padStart(widths[at]!) : text.padEnd(widths[at]!)))
      .join('  ')
      .trimEnd();
  const rule = '─'.repeat(widths.reduce((total, width) => total + width, 2 * (columns - 1)));
  const reads = model.inputs.map(({ shape }) => shaped([null, ...shape])).join(', ');
  const memory = memoryBytes === undefined ? '' : `, ${grouped(memoryBytes)} bytes of memory`;
  print(`Model "${model.name}", input ${reads}${memory}`);
  print(line(table[0]!));
  print(rule);
  for (const row of table.slice(1)) print(line(row));
  print(rule);
  print(`Total params: ${grouped(model.totalParams)}`);
  if (model.trainableParams !== model.totalParams) {
    print(`Trainable params: ${grouped(model.trainableParams)}`);
    print(`Non-trainable params: ${grouped(model.totalParams - model.trainableParams)}`);
  }
}

function layerRows(layer: LayerSummary, indent: string): string[][] {
  const reads = layer.inputs.map((call) => call.join(', ')).join('; ');
  const shapes = layer.outputShapes.map(shaped).join(', ');
  const own = [`${indent}${layer.name} (${layer.class})`, shapes, grouped(layer.params), reads];
  return [own, ...(layer.layers ?? []).flatMap((inner) => layerRows(inner, `${indent}  `))];
}
