/** Prints the table of a model's layers. */
import type { ModelSummary } from './abi.js';

/** One line per layer: name, shape of its result, number of its weights; then the total. */
export function printSummary(model: ModelSummary, print: (line: string) => void): void {
  const rows = model.layers.map((layer) => [
    `${layer.name} (${layer.class})`,
    `[${layer.outputShape.map((size) => size ?? 'null').join(',')}]`,
    layer.params.toLocaleString('en'),
  ]);
  const table = [['Layer (type)', 'Output shape', 'Param #'], ...rows];
  const widths = [0, 1, 2].map((column) => Math.max(...table.map((row) => row[column]!.length)));
  const line = (row: string[]) =>
    `${row[0]!.padEnd(widths[0]!)}  ${row[1]!.padEnd(widths[1]!)}  ${row[2]!.padStart(widths[2]!)}`;
  const rule = '─'.repeat(widths.reduce((total, width) => total + width, 4));
  print(`Model "${model.name}", input [null,${model.inputShape.join(',')}]`);
  print(line(table[0]!));
  print(rule);
  for (const row of rows) print(line(row));
  print(rule);
  print(`Total params: ${model.totalParams.toLocaleString('en')}`);
}
