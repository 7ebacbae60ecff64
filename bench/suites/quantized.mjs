/**
 * One row times a matrix of 4096² weights: limited by reading the weights. Next to each form of weights what
 * is read of memory in a second, and the share of what a sum over 64 MiB of floats reads.
 */
import { formatTable } from '../report.mjs';
import { inEngines, usual } from './onnx_engines.mjs';

export const quantized = { run };

async function run(settings) {
  return inEngines(settings, async ({ title, threads, call }) => {
    const { rows } = await call({ task: 'products', threads, settings: usual(settings) });
    const rate = ({ read, ms }) => read / ms / 1e6;
    const markdown = formatTable(
      [`1 × 4096², ${title}`, 'ms', 'GB/s', 'of the memory’s'],
      rows.map((row) => [
        row.name,
        row.ms.toFixed(2),
        rate(row).toFixed(1),
        `${Math.round((100 * rate(row)) / rate(rows[0]))} %`,
      ]),
    );
    return { rows, markdown };
  });
}
