/** `tl.compile`: functions of tensors become modules. */
import { LatheError } from '../base/errors.js';
import { checkOptions, type OptionNames } from '../base/options.js';
import {
  CompiledFunction,
  type FunctionOptions,
  type InputSpec,
  traceGraph,
} from './compiled_function.js';
import { DeviceFunction } from './device_function.js';
import { HeapFunction } from './heap_function.js';
import { segmented, type SegmentedFunction } from './segmented_function.js';
import { SizedFunction, type SizedInputSpec } from './sized_function.js';
import type { DeviceName } from '../runtime/device.js';
import type { Operand, Trace, TracedTensor } from './trace.js';

const names: OptionNames<FunctionOptions> = {
  heap: true,
  segments: true,
  origins: true,
  dumps: true,
  timeLimit: true,
  device: true,
};

/** The function to trace. */
type Definition<Inputs extends string, Outputs extends string> = (
  inputs: Record<Inputs, TracedTensor>,
  g: Trace,
) => Record<Outputs, Operand>;

/**
 * Compiles a function of tensors to one WebAssembly module.
 *
 *     const f = tl.compile({ x: [1, 784] }, ({ x }, g) => ({
 *       y: x.matMul(g.variable('w', [784, 10])).softmax(),
 *     }));
 *     f.run({ x: pixels }).y.dataSync();
 *
 * @param specs the shape of every argument
 * @param build called once with symbolic arguments; returns the results by name
 * @param options with `heap` a `HeapFunction`, whose results stay in the memory of tensors; with `segments`, for sizes
 *     that depend on data, a `SegmentedFunction`; with `device` a `DeviceFunction`, on 'webgpu' or 'wasm'
 *
 * Errors: whatever `build` throws; an operation whose shapes do not fit, at its call.
 */
export function compile<Inputs extends string, Outputs extends string>(
  specs: Record<Inputs, InputSpec>,
  build: Definition<Inputs, Outputs>,
  options: FunctionOptions & { segments: true },
): SegmentedFunction<Inputs, Outputs>;
export function compile<Inputs extends string, Outputs extends string>(
  specs: Record<Inputs, InputSpec>,
  build: Definition<Inputs, Outputs>,
  options: FunctionOptions & { heap: true; segments?: false },
): HeapFunction<Inputs, Outputs>;
export function compile<Inputs extends string, Outputs extends string>(
  specs: Record<Inputs, InputSpec>,
  build: Definition<Inputs, Outputs>,
  options: { device: DeviceName },
): DeviceFunction<Inputs, Outputs>;
export function compile<Inputs extends string, Outputs extends string>(
  specs: Record<Inputs, InputSpec>,
  build: Definition<Inputs, Outputs>,
  options?: FunctionOptions & { heap?: false; segments?: false; device?: undefined },
): CompiledFunction<Inputs, Outputs>;
/**
 * The same with names for sizes that every call chooses; equal names denote equal sizes:
 *
 *     const f = tl.compile({ x: ['rows', 784] }, ({ x }, g) => ({
 *       y: x.matMul(g.variable('w', [784, 10])).softmax(),
 *     }));
 *     f.run({ x: tl.tensor(pixels, [3, 784]) });
 *
 * @param build called for every new combination of sizes, with tensors of these; must create the same variables
 *
 * Errors: those of `build` and of compiling occur at the first call with new sizes and name them; `heap`.
 */
export function compile<Inputs extends string, Outputs extends string>(
  specs: Record<Inputs, SizedInputSpec>,
  build: Definition<Inputs, Outputs>,
  options?: FunctionOptions & { heap?: false; segments?: false },
): SizedFunction<Inputs, Outputs>;
export function compile<Inputs extends string, Outputs extends string>(
  specs: Record<Inputs, InputSpec> | Record<Inputs, SizedInputSpec>,
  build: Definition<Inputs, Outputs>,
  options: FunctionOptions = {},
):
  | CompiledFunction<Inputs, Outputs>
  | DeviceFunction<Inputs, Outputs>
  | HeapFunction<Inputs, Outputs>
  | SegmentedFunction<Inputs, Outputs>
  | SizedFunction<Inputs, Outputs> {
  checkOptions('compile', options, names);
  if (isFixed<Inputs>(specs)) {
    if (options.device !== undefined) {
      checkOptions('compile on a device', options, { device: true });
      return new DeviceFunction(options.device, specs, build);
    }
    if (options.segments) return segmented(specs, build, options);
    return options.heap
      ? new HeapFunction(specs, build, options)
      : new CompiledFunction(() => traceGraph(specs, build), options);
  }
  const other = (['segments', 'heap', 'device'] as const).find((each) => options[each]);
  if (other === undefined) return new SizedFunction(specs, build, options);
  throw new LatheError(`compile: names for sizes do not go with ${other}; leave one of them out`);
}

/** Whether no size is a name. */
function isFixed<Inputs extends string>(
  specs: Record<Inputs, SizedInputSpec>,
): specs is Record<Inputs, InputSpec> {
  return Object.values<SizedInputSpec>(specs).every((spec) => {
    const shape = 'shape' in spec ? spec.shape : spec;
    return !Array.isArray(shape) || shape.every((size) => typeof size !== 'string');
  });
}
