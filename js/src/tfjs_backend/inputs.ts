/** Inputs of TensorFlow.js kernels as Tensorlathe tensors. */
import { type InputName, inputNames } from '../ops/kernel_inputs.js';
import type { Tensor } from '../tensor/tensor.js';
import type { LatheBackend, TensorInfo } from './backend.js';

/** Tensors by input name; by index for kernels of any number of inputs. */
export type Inputs = Readonly<Record<InputName, Tensor>>;

/** Kernel inputs of TensorFlow.js: by name, or a list. */
export type KernelInputs = Readonly<Record<string, KernelInput>> | readonly TensorInfo[];
type KernelInput = TensorInfo | readonly TensorInfo[] | null | undefined;

/** Inputs by name, converted on access, which is faster than converting all of them. */
class NamedInputs {
  constructor(
    readonly kernelInputs: Readonly<Record<string, KernelInput>>,
    readonly backend: LatheBackend,
  ) {}
}

for (const name of inputNames) {
  Object.defineProperty(NamedInputs.prototype, name, {
    get(this: NamedInputs) {
      return tensorsOf(this.kernelInputs[name], this.backend);
    },
  });
}

/** The inputs as Tensorlathe tensors. */
export const inputsOf = (kernelInputs: KernelInputs, backend: LatheBackend): Inputs =>
  (isList(kernelInputs)
    ? listOf(kernelInputs, backend)
    : new NamedInputs(kernelInputs, backend)) as unknown as Inputs;

const isList = (input: KernelInputs | KernelInput): input is readonly TensorInfo[] =>
  Array.isArray(input);

const listOf = (infos: readonly TensorInfo[], backend: LatheBackend): Tensor[] =>
  infos.map((each) => backend.tensorOf(each));

function tensorsOf(input: KernelInput, backend: LatheBackend): Tensor | Tensor[] | undefined {
  if (isList(input)) return listOf(input, backend);
  return input ? backend.tensorOf(input) : undefined;
}
