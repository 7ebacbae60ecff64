/** `callbacks.csvLogger`: the scores of every epoch as a line of a CSV file. */
import { LatheError } from '../base/errors.js';
import { nodeModule, nodeProcess } from '../base/node.js';
import type { TrainingCallbacks } from './history.js';

/** Options of `callbacks.csvLogger`. */
export interface CsvLoggerArgs {
  /** Between the values. Default: a comma. */
  separator?: string;
  /** Whether lines are added to a file that exists. Default: false. */
  append?: boolean;
}

/** Error: not in Node; the file cannot be written. */
export function csvLogger(
  path: string | URL,
  { separator = ',', append = false }: CsvLoggerArgs = {},
): TrainingCallbacks<unknown> {
  if (nodeProcess === undefined) {
    throw new LatheError('csvLogger: only in Node; in a page use onEpochEnd or the history of fit');
  }
  const fs = nodeModule('node:fs');
  let names: string[] | undefined;
  const line = (values: readonly unknown[]) => `${values.join(separator)}\n`;
  const isOld = append && fs.existsSync(path) && fs.statSync(path).size > 0;
  if (isOld) {
    const [head] = fs.readFileSync(path, 'utf8').split('\n', 1);
    names = head.split(separator).slice(1);
  }
  return {
    onEpochEnd(epoch, logs) {
      if (names === undefined) {
        names = Object.keys(logs).filter((name) => typeof logs[name] === 'number');
        fs.writeFileSync(path, line(['epoch', ...names]));
      }
      fs.appendFileSync(path, line([epoch, ...names.map((name) => logs[name] ?? '')]));
    },
  };
}
