/** `tl.compile`: functions of tensors become modules. */
import { LatheError } from '../base/errors.js';
import { describeKind } from '../base/kinds.js';
import { checkObject, checkOptions, type OptionNames } from '../base/options.js';
import { defaultDevice, loadedDevice } from '../devices/registry.js';
import type { Device } from '../runtime/device.js';
import type { CompiledFunction, FunctionOptions } from './compiled_function.js';
import { DeviceFunction } from './device_function.js';
import { ModuleFunction } from './module_function.js';
import { segmented } from './segmented_function.js';
import { SizedFunction, type SizedInputSpec } from './sized_function.js';
import type { Operand, Trace, TracedTensor } from './trace.js';
import { type InputSpec, shapeIn, traceGraph } from './trace_graph.js';

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
 * @param options where it runs, and whether sizes depend on data
 *
 * Errors: whatever `build` throws; an operation whose shapes do not fit, at its call.
 */
export function compile<Inputs extends string, Outputs extends string>(
  specs: Record<Inputs, InputSpec>,
  build: Definition<Inputs, Outputs>,
  options?: FunctionOptions,
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
 * Errors: those of `build` and of compiling occur at the first call with new sizes and name them; `segments`.
 */
export function compile<Inputs extends string, Outputs extends string>(
  specs: Record<Inputs, SizedInputSpec>,
  build: Definition<Inputs, Outputs>,
  options?: FunctionOptions & { segments?: false },
): SizedFunction<Inputs, Outputs>;
export function compile<Inputs extends string, Outputs extends string>(
  specs: Record<Inputs, InputSpec> | Record<Inputs, SizedInputSpec>,
  build: Definition<Inputs, Outputs>,
  options: FunctionOptions = {},
): CompiledFunction<Inputs, Outputs> {
  checkOptions('compile', options, names);
  checkObject('compile', specs, 'shapes');
  if (typeof build !== 'function') {
    throw new LatheError(`compile: a function is needed, got ${describeKind(build)}`);
  }
  const device = deviceFor(options);
  if (!isFixed<Inputs>(specs)) {
    if (!options.segments) return new SizedFunction(specs, build, options, device);
    throw new LatheError('compile: names for sizes do not go with segments; leave one of them out');
  }
  if (options.segments) return segmented(device ?? defaultDevice, specs, build, options);
  const trace = () => traceGraph(specs, build);
  return device === undefined
    ? new ModuleFunction(trace, options)
    : new DeviceFunction(device, trace, options);
}

/** The device of a function; undefined: a module of its own. Errors: it is not loaded; options that it does not have. */
function deviceFor(options: FunctionOptions): Device | undefined {
  if (options.device === undefined) return options.heap ? defaultDevice : undefined;
  const device = loadedDevice(options.device);
  const ofModules = { origins: true, dumps: true, timeLimit: true };
  const allowed = device === defaultDevice ? ofModules : {};
  checkOptions('compile on a device', options, { device: true, segments: true, ...allowed });
  return device;
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
