// Every function that `tensorlathe/tfjs` exports has a recipe, or a reason why not.
import * as tl from 'tensorlathe/tfjs';
import { rows } from './rows.mjs';

/** Functions without recipes, by reason. */
const without = {
  'numbers at random': `dropout multinomial rand randomGamma randomNormal randomStandardNormal randomUniform
    randomUniformInt truncatedNormal`,
  'used in every program': `tensor tensor1d tensor2d tensor3d tensor4d tensor5d tensor6d scalar variable tidy keep
    dispose memory grads`,
  'as grads, which the gradient check uses': 'grad valueAndGrad valueAndGrads variableGrads',
  'checks of the suite run it': 'compile profile time',
  'what shows and fills tensors': 'print buffer',
  'texts: tests/tfjs has their specs': 'string.*',
  'models, files and what trains: tests/js/layers_random.mjs and others': `LayersModel Sequential SymbolicTensor Layer InputSpec RNN
    RNNCell GraphModel History Callback CustomCallback EarlyStopping ModelCheckpoint input model sequential loadGraphModel
    loadGraphModelSync loadLayersModel loadModel CallbackList LayerVariable toOnnx scheduleLearningRate layerTimes moduleText setWasmUrl LatheError
    CompiledFunction SizedFunction Trace TracedTensor TracedVariable AdadeltaOptimizer
    AdagradOptimizer AdamOptimizer AdamaxOptimizer MomentumOptimizer Optimizer RMSPropOptimizer SGDOptimizer registerOp
    deregisterOp registerCallbackConstructor op tune.* activations.* learningRates.*`,
  'what runs, not what is computed': `DataStorage Environment GPGPUContext KernelBackend MathBackendCPU MathBackendWebGL
    WebGPUBackend forceHalfFloat setWebGLContext getThreadsCount setThreadsCount setWasmPath
    setWasmPaths Tensor TensorBuffer Variable backend copyRegisteredKernels
    deprecationWarn disableDeprecationWarnings disposeVariables enableDebugMode enableProdMode engine env findBackend
    findBackendFactory getBackend getGradient getKernel getKernelsForBackend nextFrame ready registerBackend registerGradient
    registerKernel removeBackend setBackend setPlatform unregisterGradient unregisterKernel sumOutType upcastType checkShape
    equationTimes setDevice getDevice DeviceLostError LimitError OutOfMemoryError`,
  'TensorFlow.js has none of these; tests/js/node has ops/formulas, ops/linalg and eager/transform/jit': `logAddExp linalg.cholesky linalg.det linalg.eigh
    linalg.inv linalg.solve linalg.svd jit vmap`,
  'reads images: tests/js/node/media/image': 'image.toTensor',
  'a length: tests/js/node/tfjs/utilities': 'enclosingPowerOfTwo',
  'ours, within others that have rows':
    'flatten identity trueIndices reshapeAs setdiff1d confusionMatrix',
};
const reasons = new Set(Object.values(without).flatMap((names) => names.split(/\s+/)));
/** Namespaces of operations; what is in others is no operation. */
const families = [
  'fused',
  'image',
  'linalg',
  'losses',
  'math',
  'signal',
  'sparse',
  'spectral',
  'string',
];

function functionsOf(library) {
  return Object.entries(library).flatMap(([name, value]) => {
    if (typeof value === 'function') return [name];
    if (!families.includes(name)) return [];
    return Object.keys(value).map((each) => `${name}.${each}`);
  });
}

/** Exports with neither, and rows that are no export: a line each. */
export function unlisted() {
  const names = functionsOf(tl);
  const isListed = (name) =>
    name in rows ||
    name in tl.data || // datasets, which tests/js/node/data has
    (name.startsWith('spectral.') && name.slice(9) in rows) ||
    reasons.has(name) ||
    reasons.has(`${name.split('.')[0]}.*`);
  const rowsOnly = ['assign'];
  return [
    ...names.filter((name) => !isListed(name)).map((name) => `${name} has no row and no reason`),
    ...Object.keys(rows)
      .filter((name) => !names.includes(name) && !rowsOnly.includes(name))
      .map((name) => `${name} is a row and no export`),
  ];
}
