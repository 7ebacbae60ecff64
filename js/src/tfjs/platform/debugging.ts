/** Debug mode: each operation runs separately and is logged; the first non-finite result throws. */
import { LatheError } from '../../base/errors.js';
import { inspectValues } from '../../tensor/tensor.js';
import type { Tensor } from '../../tensor/tensor.js';
import { computed, kernelName, observe } from './operation_observers.js';

let stop: (() => void) | undefined;

/** Starts to observe operations, until `isEnabled` is false: `reset` turns the flag off without calling its hook. */
export function beginDebugging(isEnabled: () => boolean): void {
  if (stop !== undefined) return;
  const isOn = (): boolean => {
    const is = isEnabled();
    if (!is) stop?.();
    return is;
  };
  const end = observe((op, operands, result) => {
    if (!isOn()) return;
    const milliseconds = computed(result);
    const from = operands.map((each) => (typeof each === 'number' ? each : each.type)).join(', ');
    const time = typeof milliseconds === 'number' ? `${milliseconds.toFixed(3)} ms ` : '';
    console.log(`${kernelName(op)} ${time}${result.type} <- ${from}`);
    checkResult(kernelName(op), result, from);
  });
  inspectValues((values, dtype) => {
    if (isOn()) checkValues(values, dtype);
  });
  stop = () => {
    end();
    inspectValues(undefined);
    stop = undefined;
  };
}

function checkResult(name: string, result: Tensor, from: string): void {
  if (!/^b?float/.test(result.dtype)) return;
  const found = result.dataSync().find((each) => !Number.isFinite(each));
  if (found === undefined) return;
  throw new LatheError(`Found ${found} in the result of '${name}', ${result.type}, of ${from}`);
}

function checkValues(values: ArrayLike<unknown>, dtype: string): void {
  for (let at = 0; at < values.length; at++) {
    const value = values[at];
    if (typeof value !== 'number' || Number.isFinite(value)) continue;
    throw new LatheError(`A tensor of type ${dtype} being made contains ${value}.`);
  }
}
