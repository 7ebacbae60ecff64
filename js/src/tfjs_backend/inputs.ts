/** What kernels of TensorFlow.js are given, as tensors of ours. */
import type { Tensor } from '../tensor/tensor.js';
import type { LatheBackend, TensorInfo } from './backend.js';
import type { Inputs } from './kernels.js';

/** What inputs of kernels are called (kernel_names.ts of tfjs-core 4.22). */
const names = [
  'a',
  'alpha',
  'b',
  'bias',
  'boxInd',
  'boxes',
  'condition',
  'data',
  'dataSplits',
  'defaultValue',
  'delimiter',
  'deltas',
  'denseShape',
  'dy',
  'e',
  'filter',
  'imag',
  'image',
  'images',
  'indices',
  'input',
  'inputIndices',
  'inputShape',
  'limits',
  'logits',
  'mean',
  'newShape',
  'numLower',
  'numUpper',
  'offset',
  'params',
  'paramsDenseValues',
  'paramsNestedSplits',
  'preluActivationWeights',
  'real',
  'rowPartitionTensors',
  's0',
  's1',
  'scale',
  'scores',
  'segmentIds',
  'shape',
  'sortedSequence',
  'sparseIndices',
  'sparseValues',
  'starts',
  't',
  'tensor',
  'transforms',
  'updates',
  'value',
  'values',
  'variance',
  'weights',
  'x',
  'y',
] as const;

export type InputName = (typeof names)[number];
/** As TensorFlow.js hands them over: by name, or any number of them. */
export type GivenInputs = Readonly<Record<string, Given>> | readonly TensorInfo[];
type Given = TensorInfo | readonly TensorInfo[] | null | undefined;

/** Inputs by name: a kernel that asks for one gets our tensor of it, which is faster than making all of them ready. */
class NamedInputs {
  constructor(
    readonly given: Readonly<Record<string, Given>>,
    readonly backend: LatheBackend,
  ) {}
}

for (const name of names) {
  Object.defineProperty(NamedInputs.prototype, name, {
    get(this: NamedInputs) {
      return tensorsOf(this.given[name], this.backend);
    },
  });
}

/** Inputs that were given, as our tensors. */
export const inputsOf = (given: GivenInputs, backend: LatheBackend): Inputs =>
  (isList(given) ? listOf(given, backend) : new NamedInputs(given, backend)) as unknown as Inputs;

const isList = (given: GivenInputs | Given): given is readonly TensorInfo[] => Array.isArray(given);

const listOf = (given: readonly TensorInfo[], backend: LatheBackend): Tensor[] =>
  given.map((each) => backend.tensorOf(each));

function tensorsOf(given: Given, backend: LatheBackend): Tensor | Tensor[] | undefined {
  if (isList(given)) return listOf(given, backend);
  return given ? backend.tensorOf(given) : undefined;
}
