// For each format a function that generates a hostile file and returns a function that opens and uses it.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import jpeg from 'jpeg-js';
import { PNG } from 'pngjs';
import * as tl from 'tensorlathe';
import { fromKeras } from 'tensorlathe/keras';
import * as ort from 'tensorlathe/onnxruntime';
import * as tf from 'tensorlathe/tfjs';
import { loadTrainingModule } from 'tensorlathe/training-module';
import { float, func, graph, ints, model, node, tensor, value } from '../../js/onnx/write.mjs';
import { hdf5, zip } from '../../reports/keras_files.mjs';

/** The content of a file outside its folder, which must never be read. */
export const SECRET = 1234.5;

const folder = mkdtempSync(join(tmpdir(), 'tensorlathe-fuzz-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
writeFileSync(join(folder, 'secret.bin'), Buffer.from(new Float32Array(16).fill(SECRET).buffer));

const OPERATORS = [
  ...['Add', 'Mul', 'MatMul', 'Relu', 'Softmax', 'Reshape', 'Expand', 'Tile', 'ConstantOfShape'],
  ...['Range', 'OneHot', 'Pad', 'Slice', 'Gather', 'Concat', 'Split', 'Transpose', 'Squeeze'],
  ...['Unsqueeze', 'ReduceSum', 'TopK', 'Resize', 'Conv', 'MaxPool', 'Where', 'NonZero', 'CumSum'],
  ...[
    'ScatterElements',
    'ScatterND',
    'GatherND',
    'Trilu',
    'EyeLike',
    'Flatten',
    'Cast',
    'Identity',
  ],
  ...['SequenceConstruct', 'ConcatFromSequence', 'SplitToSequence', 'SequenceAt', 'SequenceInsert'],
  ...['BlackmanWindow', 'DFT', 'Col2Im', 'CenterCropPad', 'RandomUniform', 'Multinomial', 'Unique'],
  ...['StringConcat', 'StringSplit', 'RegexFullMatch', 'StringNormalizer', 'LSTM', 'Einsum'],
  ...[
    'QuantizeLinear',
    'DequantizeLinear',
    'NonMaxSuppression',
    'Compress',
    'SpaceToDepth',
    'Bernoulli',
  ],
];
const ATTRIBUTES = [
  ...['axis', 'axes', 'perm', 'value', 'to', 'mode', 'pads', 'strides', 'kernel_shape', 'group'],
  ...[
    'dilations',
    'hidden_size',
    'equation',
    'pattern',
    'sample_size',
    'shape',
    'k',
    'num_outputs',
  ],
  ...['keepdims', 'blocksize', 'delimiter', 'auto_pad', 'direction', 'maxsplit', 'batch_dims'],
];

function attribute(draw) {
  const kind = draw.below(6);
  if (kind === 0) return ints(draw.shape());
  if (kind === 1) return draw.number();
  if (kind === 2) return draw.name();
  if (kind === 3) return float(draw.number());
  if (kind === 4)
    return draw.one(['ij,jk->ik', 'ab'.repeat(draw.size(30)), '(a*)*'.repeat(draw.size(60))]);
  return tensor('int64', [draw.number()]);
}

function drawnNodes(draw, names) {
  return draw.times(draw.size(12), (k) => {
    const inputs = draw.times(draw.chance(0.02) ? draw.size(20000) : draw.below(4), () =>
      draw.one(names),
    );
    const attributes = Object.fromEntries(
      draw.times(draw.below(3), () => [draw.one(ATTRIBUTES), attribute(draw)]),
    );
    const output = draw.chance(0.05) ? draw.name() : `v${k}`;
    names.push(output);
    return node(draw.one(OPERATORS), inputs, [output], attributes);
  });
}

/** Branches, loops and functions in one another, and patterns. */
const DEEP = {
  branches: (draw) =>
    draw.nested(
      (inner) => {
        const branch = graph({ nodes: [inner], outputs: [value('y', 'float32', [1])] });
        return node('If', ['flag'], ['y'], { then_branch: branch, else_branch: branch });
      },
      node('Neg', ['x'], ['y']),
      10,
    ),
  loops: (draw) =>
    draw.nested(
      (inner) => {
        const body = graph({
          nodes: [inner, node('Identity', ['go'], ['goes'])],
          inputs: [value('i', 'int64', []), value('go', 'bool', []), value('s', 'float32', [1])],
          outputs: [value('goes', 'bool', []), value('y', 'float32', [1])],
        });
        return node('Loop', ['n', 'flag', 'x'], ['y'], { body });
      },
      node('Neg', ['x'], ['y']),
      400,
    ),
  functions: (draw) => node(`F${draw.size(3000)}`, ['x'], ['y'], {}, { domain: 'f' }),
  pattern: (draw) => {
    const part = draw.one([
      'a*',
      '(a*)*',
      '(a?){900}',
      '*',
      '(',
      '[a-z]+',
      '(?i)[а-я]',
      '|',
      '{2}',
      '(a|a)+',
    ]);
    return node('RegexFullMatch', ['s'], ['y'], { pattern: part.repeat(draw.size(20000)) });
  },
};

const functions = (count) =>
  Array.from({ length: count }, (_, k) =>
    func({
      domain: 'f',
      name: `F${k}`,
      inputs: ['x'],
      outputs: ['y'],
      nodes: [
        k === 0 ? node('Neg', ['x'], ['y']) : node(`F${k - 1}`, ['x'], ['y'], {}, { domain: 'f' }),
      ],
      opsets: { f: 1 },
    }),
  );

const initializers = (draw) => ({
  flag: tensor('bool', [1], []),
  n: tensor('int64', [draw.number()], []),
  s: tensor('string', ['a'.repeat(draw.size(3000))], [1]),
  counts: tensor('int64', draw.shape()),
  w: tensor('float32', [1, 2, 3, 4], [2, 2]),
});

async function useOnnx(source) {
  const session = await ort.InferenceSession.create(source);
  try {
    const feeds = Object.fromEntries(
      session.inputNames.map((name) => [name, new ort.Tensor('float32', [1, 1], [2])]),
    );
    const results = await session.run(feeds, { timeLimit: 2000 });
    return Object.values(results).some((each) => each?.data?.[0] === SECRET)
      ? 'the secret'
      : undefined;
  } finally {
    await session.release();
  }
}

const inputs = (draw) => [
  value('x', 'float32', [draw.chance(0.9) ? 2 : draw.one([null, draw.name(), draw.number()])]),
];
const ioOnnx = (draw, names) => ({
  inputs: inputs(draw),
  outputs: [value(draw.chance(0.9) ? names.at(-1) : draw.name(), 'float32')],
});

function onnx(draw) {
  const constants = initializers(draw);
  if (draw.chance(0.3)) {
    const inner = DEEP[draw.one(Object.keys(DEEP))](draw);
    const bytes = model({
      opset: 21,
      opsets: { f: 1 },
      functions: inner.domain === 'f' ? functions(draw.size(3000)) : [],
      nodes: [inner],
      initializers: constants,
      inputs: [value('x', 'float32', [2])],
      outputs: [value('y', inner.op === 'RegexFullMatch' ? 'bool' : 'float32')],
    });
    return () => useOnnx(bytes);
  }
  const names = ['x', ...Object.keys(constants)];
  const nodes = drawnNodes(draw, names);
  const bytes = model({ opset: 21, nodes, initializers: constants, ...ioOnnx(draw, names) });
  const chosen = draw.chance(0.4) ? draw.damaged(bytes) : bytes;
  return () => useOnnx(chosen);
}

/** Weights in other files, by names that try to leave the folder. */
function external(draw) {
  const up = draw.one([
    '..',
    '%2e%2e',
    '%2E%2E',
    '.%2e',
    '..%2f.',
    '.\t.',
    '. .',
    '..\\.',
    '%252e%252e',
  ]);
  const location = draw.one([
    `${up}/secret.bin`,
    `a/${up}/${up}/secret.bin`,
    `./${up}//secret.bin`,
    `${up}\\secret.bin`,
    join(folder, 'secret.bin'),
    `file://${join(folder, 'secret.bin')}`,
    `\t//localhost${join(folder, 'secret.bin')}`,
    draw.name(),
  ]);
  const within = join(folder, 'models');
  const path = `${within}.${draw.below(1e6)}.onnx`.replace('models.', 'models/');
  const bytes = model({
    opset: 21,
    nodes: [node('Identity', ['w'], ['y'])],
    outputs: [value('y', 'float32')],
    initializers: {
      w: {
        dtype: 'float32',
        shape: draw.chance(0.7) ? [4] : draw.shape(),
        external: {
          location,
          offset: draw.chance(0.8) ? 0 : draw.number(),
          length: draw.chance(0.7) ? 16 : draw.number(),
        },
      },
    },
  });
  return async () => {
    const { mkdirSync } = await import('node:fs');
    mkdirSync(within, { recursive: true });
    writeFileSync(path, bytes);
    try {
      return await useOnnx(draw.chance(0.5) ? path : new URL(`file://${path}`).href);
    } finally {
      rmSync(path);
    }
  };
}

const saved = async (layers) => {
  const made = tl.sequential({ layers });
  let artifacts;
  await made.save({
    save: async (each) => ((artifacts = each), { modelArtifactsInfo: { dateSaved: new Date() } }),
  });
  made.dispose();
  return artifacts;
};
const { layers } = tl;
const SAVED = [
  await saved([
    layers.dense({ units: 3, inputShape: [4], activation: 'relu' }),
    layers.dense({ units: 2 }),
  ]),
  await saved([
    layers.conv2d({ filters: 2, kernelSize: 3, inputShape: [8, 8, 1] }),
    layers.maxPooling2d({ poolSize: 2 }),
    layers.flatten(),
    layers.dense({ units: 2 }),
  ]),
  await saved([
    layers.embedding({ inputDim: 10, outputDim: 4, inputLength: 5 }),
    layers.bidirectional({ layer: layers.lstm({ units: 3 }) }),
  ]),
];

async function useModel(loading) {
  const loaded = await loading;
  try {
    const shape = loaded.inputs[0].shape.map((size) => size ?? 1);
    if (shape.every((size) => size >= 0 && size < 100))
      (await loaded.predict(tl.ones(shape))).dataSync?.();
  } finally {
    loaded.dispose();
  }
}

function layersModel(draw) {
  const artifacts = draw.one(SAVED);
  const { modelTopology, weightSpecs } = draw.mutated({
    modelTopology: artifacts.modelTopology,
    weightSpecs: artifacts.weightSpecs,
  });
  const weightData = draw.chance(0.8)
    ? artifacts.weightData
    : artifacts.weightData.slice(0, draw.below(40));
  return () =>
    useModel(
      tl.loadLayersModel(
        tl.io.fromMemory({ ...artifacts, modelTopology, weightSpecs, weightData }),
      ),
    );
}

const GRAPH_OPERATORS = [
  ...['Fill', 'Range', 'Tile', 'Pad', 'OneHot', 'BroadcastTo', 'Reshape', 'LinSpace', 'Bincount'],
  ...['DenseBincount', 'TensorListReserve', 'TensorListResize', 'TensorListStack', 'TensorArrayV3'],
  ...[
    'RaggedRange',
    'RaggedGather',
    'RaggedTensorToTensor',
    'SparseToDense',
    'SparseFillEmptyRows',
  ],
  ...['SparseReshape', 'SparseSegmentSum', 'StringSplit', 'StringNGrams', 'StaticRegexReplace'],
  ...[
    'Multinomial',
    'ResizeBilinear',
    'CropAndResize',
    'GatherV2',
    'ScatterNd',
    'StridedSlice',
    'Slice',
  ],
  ...[
    'NonMaxSuppressionV5',
    'TopKV2',
    'Conv2D',
    'MaxPool',
    'AddV2',
    'MatMul',
    'Cumsum',
    'Unique',
    'While',
  ],
  ...[
    'StatelessWhile',
    'StatelessIf',
    'PartitionedCall',
    'Switch',
    'Merge',
    'Enter',
    'NextIteration',
  ],
];

function graphModel(draw) {
  const weights = [];
  const constants = draw.times(4, (k) => {
    const isInt = draw.chance(0.7);
    const values = draw.times(draw.below(4), () => draw.number() | 0);
    weights.push(isInt ? Int32Array.from(values) : Float32Array.from(values));
    return {
      name: `c${k}`,
      shape: values.length === 1 && draw.chance(0.5) ? [] : [values.length],
      dtype: isInt ? 'int32' : 'float32',
    };
  });
  const names = constants.map(({ name }) => name);
  const kind = (type) => ({ type });
  const nodes = constants.map(({ name, dtype, shape }) => ({
    name,
    op: 'Const',
    attr: {
      dtype: kind(dtype === 'int32' ? 'DT_INT32' : 'DT_FLOAT'),
      value: {
        tensor: {
          dtype: dtype === 'int32' ? 'DT_INT32' : 'DT_FLOAT',
          tensorShape: { dim: shape.map((size) => ({ size: String(size) })) },
        },
      },
    },
  }));
  for (let k = 0; k < draw.size(8); k += 1) {
    const name = `n${k}`;
    nodes.push({
      name,
      op: draw.one(GRAPH_OPERATORS),
      input: draw.times(draw.below(6), () => draw.one(names)),
      attr: {
        T: kind('DT_FLOAT'),
        Tidx: kind('DT_INT32'),
        f: { func: { name: 'F' } },
        cond: { func: { name: 'F' } },
        body: { func: { name: 'F' } },
        element_dtype: kind('DT_FLOAT'),
        ngram_widths: { list: { i: [String(draw.number())] } },
      },
    });
    names.push(name);
  }
  const library = {
    function: [
      {
        signature: {
          name: 'F',
          inputArg: [{ name: 'a', type: 'DT_FLOAT' }],
          outputArg: [{ name: 'r', type: 'DT_FLOAT' }],
        },
        nodeDef: [
          {
            name: 'z',
            op: draw.one(GRAPH_OPERATORS),
            input: ['a'],
            attr: { f: { func: { name: 'F' } } },
          },
        ],
        ret: { r: 'z' },
      },
    ],
  };
  const topology = draw.chance(0.5)
    ? { node: nodes, library }
    : draw.mutated({ node: nodes, library });
  const artifacts = {
    format: 'graph-model',
    modelTopology: topology,
    weightSpecs: constants,
    weightData: Uint8Array.from(Buffer.concat(weights.map((each) => Buffer.from(each.buffer))))
      .buffer,
  };
  return async () => {
    const loaded = await tf.loadGraphModel({ load: async () => artifacts });
    try {
      const result = await loaded.executeAsync({}, names.at(-1), { timeLimit: 2000 });
      for (const each of [result].flat()) await each.data?.();
    } finally {
      loaded.dispose();
    }
  };
}

const ARCHIVE = {
  'config.json': Buffer.from(
    JSON.stringify({
      module: 'keras',
      class_name: 'Sequential',
      config: {
        name: 's',
        layers: [
          {
            module: 'keras.layers',
            class_name: 'InputLayer',
            config: { batch_shape: [null, 4], name: 'i' },
          },
          {
            module: 'keras.layers',
            class_name: 'Dense',
            config: { name: 'dense', units: 2 },
            build_config: { input_shape: [null, 4] },
          },
        ],
      },
    }),
  ),
  'metadata.json': Buffer.from(JSON.stringify({ keras_version: '3.5.0' })),
  'model.weights.h5': Buffer.from(
    await hdf5({
      'layers/dense/vars/0': { shape: [4, 2], data: new Float32Array(8) },
      'layers/dense/vars/1': { shape: [2], data: new Float32Array(2) },
    }),
  ),
};

function keras(draw) {
  const files = { ...ARCHIVE };
  const kind = draw.below(4);
  if (kind === 0)
    files['config.json'] = Buffer.from(
      JSON.stringify(draw.mutated(JSON.parse(files['config.json']))),
    );
  if (kind === 1) files['model.weights.h5'] = Buffer.from(draw.damaged(files['model.weights.h5']));
  if (kind === 2) files[draw.name()] = Buffer.alloc(draw.size(1e6));
  const bytes = zip(files, { deflated: draw.chance(0.5) });
  const chosen = kind === 3 ? draw.damaged(bytes) : bytes;
  return () => useModel(tl.loadLayersModel(fromKeras(Uint8Array.from(chosen))));
}

const base = tl.sequential({ layers: [layers.dense({ units: 2, inputShape: [3] })] });
base.compile({ loss: 'meanSquaredError', optimizer: 'sgd' });
const standalone = await base.toWasm();
const weightNames = base.weights.map(({ name }) => name);

function safetensors(draw) {
  const header = Object.fromEntries(
    weightNames.map((name, k) => [
      name,
      { dtype: 'F32', shape: k === 0 ? [3, 2] : [2], data_offsets: k === 0 ? [0, 24] : [24, 32] },
    ]),
  );
  const json = Buffer.from(JSON.stringify(draw.mutated(header)));
  const head = Buffer.alloc(8);
  head.writeBigUInt64LE(BigInt.asUintN(64, BigInt(draw.chance(0.9) ? json.length : draw.number())));
  const bytes = Buffer.concat([head, json, Buffer.alloc(draw.chance(0.8) ? 32 : draw.below(64))]);
  const chosen = Uint8Array.from(draw.chance(0.3) ? draw.damaged(bytes) : bytes);
  return () => base.loadWeights(chosen);
}

function trainingModule(draw) {
  const bytes = draw.damaged(standalone);
  return async () => {
    const loaded = await loadTrainingModule(bytes);
    loaded.predict(new Float32Array(3));
  };
}

const image = { width: 6, height: 5, data: Buffer.alloc(120, 77) };
const IMAGES = [
  PNG.sync.write(Object.assign(new PNG({ width: 6, height: 5 }), { data: image.data })),
  jpeg.encode(image, 80).data,
];

function images(draw) {
  const bytes = draw.damaged(draw.one(IMAGES));
  return () => tf.node.decodeImage(bytes).dispose();
}

function csv(draw) {
  const cell = () =>
    draw.one([String(draw.number()), draw.name(), '"', '""', ',', '\r', 'a"b', '1e999']);
  const text = draw
    .times(draw.size(200), () => draw.times(draw.size(40), cell).join(','))
    .join('\n');
  return async () => {
    const rows = tl.data.csv(
      `data:text/csv,${encodeURIComponent(text.toWellFormed?.() ?? text.replace(/\ud800/g, ''))}`,
    );
    await rows.take(50).forEachAsync(() => {});
  };
}

export const FORMATS = {
  onnx,
  external,
  layersModel,
  graphModel,
  keras,
  safetensors,
  trainingModule,
  images,
  csv,
};
