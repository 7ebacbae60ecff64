/** `tl.compile`: functions of tensors become modules. */
import { LatheError } from '../base/errors.js';
import { describeKind } from '../base/kinds.js';
import { checkObject, checkOptions, type OptionNames } from '../base/options.js';
import {
  CompiledFunction,
  type FunctionOptions,
  type InputSpec,
  shapeIn,
  traceGraph,
} from './compiled_function.js';
import { defaultDevice, loadedDevice } from '../devices/registry.js';
import { DeviceFunction } from './device_function.js';
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
 * @param options with `device`, 'webgpu' or 'wasm', or `heap`, which is the latter, a `DeviceFunction`, whose results stay there; with
 *     `segments`, for sizes that depend on data, a `SegmentedFunction`
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
): DeviceFunction<Inputs, Outputs>;
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
  | SegmentedFunction<Inputs, Outputs>
  | SizedFunction<Inputs, Outputs> {
  checkOptions('compile', options, names);
  checkObject('compile', specs, 'shapes');
  if (typeof build !== 'function') {
    throw new LatheError(`compile: a function is needed, got ${describeKind(build)}`);
  }
  if (isFixed<Inputs>(specs)) {
    if (options.device !== undefined) {
      const device = loadedDevice(options.device);
      const ofModules = { origins: true, dumps: true, timeLimit: true };
      const allowed = device === defaultDevice ? ofModules : {};
      checkOptions('compile on a device', options, { device: true, ...allowed });
      return new DeviceFunction(device, specs, build, options);
    }
    if (options.segments) return segmented(specs, build, options);
    return options.heap
      ? new DeviceFunction(defaultDevice, specs, build, options)
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
    const shape = shapeIn<string | number>(spec);
    return !Array.isArray(shape) || shape.every((size) => typeof size !== 'string');
  });
}
