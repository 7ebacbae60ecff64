/** `tl.compile`: functions of tensors become modules. */
import { CompiledFunction, type FunctionOptions, type InputSpec } from './compiled_function.js';
import { HeapFunction } from './heap_function.js';
import type { Operand, Trace, TracedTensor } from './trace.js';

/** What writes a function down. */
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
 * @param build called once, with tensors that stand for the arguments; returns the results by name
 * @param options with `heap` a `HeapFunction`: its results stay where all tensors are computed
 *
 * Errors: whatever `build` throws; an operation whose shapes do not fit, at its call.
 */
export function compile<Inputs extends string, Outputs extends string>(
  specs: Record<Inputs, InputSpec>,
  build: Definition<Inputs, Outputs>,
  options: FunctionOptions & { heap: true },
): HeapFunction<Inputs, Outputs>;
export function compile<Inputs extends string, Outputs extends string>(
  specs: Record<Inputs, InputSpec>,
  build: Definition<Inputs, Outputs>,
  options?: FunctionOptions & { heap?: false },
): CompiledFunction<Inputs, Outputs>;
export function compile<Inputs extends string, Outputs extends string>(
  specs: Record<Inputs, InputSpec>,
  build: Definition<Inputs, Outputs>,
  options: FunctionOptions = {},
): CompiledFunction<Inputs, Outputs> | HeapFunction<Inputs, Outputs> {
  return options.heap
    ? new HeapFunction(specs, build, options)
    : new CompiledFunction(specs, build, options);
}
