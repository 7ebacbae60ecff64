// The command `lathe` with ONNX models: inspect, compile, convert; command_line_run.test.mjs tests `run`.
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import * as ort from 'onnxruntime-web';
import * as tl from 'tensorlathe';
import { inFolder, instantiate, lathe, run, skip } from '../../command.mjs';
import { largestDifference } from '../../lib.mjs';
import { Message } from '../../onnx/proto.mjs';
import { graph, model, node, random, tensor, value } from '../../onnx/write.mjs';

const options = { skip };

/** A convolution over images with symbolic sizes, then a matrix product with each row. */
const imageModel = (more = {}) =>
  model({
    nodes: [
      node('Conv', ['x', 'kernel'], ['a'], { pads: [1, 1, 1, 1] }, { name: 'conv' }),
      node('Relu', ['a'], ['b'], {}, { name: 'relu' }),
      node('MatMul', ['b', 'weights'], ['c'], {}, { name: 'product' }),
      node('Add', ['c', 'bias'], ['y'], {}, { name: 'sum' }),
    ],
    inputs: [value('x', 'float32', ['batch', 3, 'height', 40])],
    outputs: [value('y', 'float32', ['batch', 16, 'height', 24])],
    initializers: {
      kernel: random(1, [16, 3, 3, 3]),
      weights: random(2, [40, 24]),
      bias: random(3, [24]),
    },
    metadata: { author: 'tests' },
    ...more,
  });
const x = random(4, [2, 3, 5, 40]);

async function resultsOf(bytes, feeds) {
  const loaded = await tl.loadModel(bytes);
  const inputs = Object.entries(feeds).map(([name, { data, shape }]) => [
    name,
    tl.tensor(data, shape),
  ]);
  const results = await loaded.run(Object.fromEntries(inputs));
  loaded.dispose();
  return results;
}

/** The data of the first output of ONNX Runtime Web. */
async function ortResult(bytes, feeds) {
  const session = await ort.InferenceSession.create(bytes, { logSeverityLevel: 4 });
  const inputs = Object.entries(feeds).map(([name, { dtype, data, shape }]) => [
    name,
    new ort.Tensor(dtype, data, shape),
  ]);
  const results = await session.run(Object.fromEntries(inputs));
  await session.release();
  return results[session.outputNames[0]].data;
}

/** Asserts that the values match a tensor within 1e-5 of its largest magnitude. */
function near(values, tensor) {
  const expected = tensor.dataSync();
  const off = largestDifference(values, expected) / Math.max(...expected.map(Math.abs));
  assert.ok(off < 1e-5, `off by ${off}`);
}

/** Calls `use` with the path of model.onnx in a temporary folder. */
const withModel = (bytes, use) =>
  inFolder((folder) => {
    const file = join(folder, 'model.onnx');
    writeFileSync(file, bytes);
    return use(file, folder);
  });

/** Asserts the exit status of the command and that its error matches the pattern. */
function fails(status, pattern, args, spawnOptions) {
  const result = lathe(args, spawnOptions);
  assert.equal(result.status, status, `${args.join(' ')}: ${result.stderr}`);
  assert.match(result.stderr, /^lathe: ./);
  assert.match(result.stderr, pattern);
  return result;
}

test(
  'inspect prints inputs, outputs, operators, parameters and, with sizes, the cost of a call',
  options,
  () =>
    withModel(imageModel(), (file) => {
      const text = run('inspect', file);
      assert.match(
        text,
        /ONNX model of tests, IR version 10, [\d,]+ bytes\n {2}operator set ai.onnx 21/,
      );
      assert.match(text, / {2}author: tests\n/);
      assert.match(text, / {2}input x {2}float32 \[batch,3,height,40\]\n {2}output y /);
      assert.match(text, / {2}Conv +21 +1\n/);
      assert.match(
        text,
        /parameters +1,416, 5,664 bytes\n {2}float32 +1,416 in 3 tensors, 5,664 bytes/,
      );
      assert.match(text, /cost +unknown: .*'x' \[batch,3,height,40\]; --shape .* --size /);
      const sized = run('inspect', file, '--shape', 'x=2,3,5,40');
      assert.match(sized, /result +y float32 \[2,16,5,24\]\n/);
      const products = 2 * 16 * 5 * 40 * 27 + 2 * 16 * 5 * 40 * 24;
      const { cost, ...report } = JSON.parse(
        run('inspect', '--json', file, '--size=batch=2', '--size=height=5'),
      );
      assert.equal(cost.multiplyAdds, products);
      assert.equal(cost.flops, 2 * products);
      assert.ok(cost.memory.all >= cost.memory.constants + cost.memory.activations);
      assert.ok(cost.module > cost.memory.constants);
      assert.deepEqual(report.inputs, [{ name: 'x', type: 'float32 [batch,3,height,40]' }]);
      assert.deepEqual(report.parameters, { float32: { tensors: 3, elements: 1416, bytes: 5664 } });
      assert.deepEqual(report.problems, []);
      assert.match(
        lathe(['inspect', '-'], { input: readFileSync(file) }).stdout.toString(),
        /Conv/,
      );
    }),
);

test('inspect lists every unsupported operator with its nodes', options, () =>
  withModel(
    model({
      nodes: [
        node('Nothing', ['x'], ['a'], {}, { name: 'first' }),
        node('Relu', ['a'], ['b']),
        node('Nothing', ['b'], ['c']),
        node('Odd', ['c'], ['d'], {}, { domain: 'com.odd', name: 'last' }),
        node('If', ['t'], ['y'], {
          then_branch: graph({
            nodes: [node('Inner', ['d'], ['e'], {}, { name: 'inside' })],
            outputs: [value('e', 'float32')],
          }),
          else_branch: graph({ nodes: [], outputs: [value('d', 'float32')] }),
        }),
      ],
      inputs: [value('x', 'float32', [2]), value('t', 'bool', [])],
      outputs: [value('y', 'float32', [2])],
    }),
    (file) => {
      const { stdout } = fails(1, /model.onnx: 3 things in it are not supported/, [
        'inspect',
        file,
      ]);
      const text = stdout.toString();
      assert.match(text, /unsupported: operator Inner of version 21 \(nodes 'inside'\)\n/);
      assert.match(text, /unsupported: operator Nothing of version 21 \(nodes 'first', 'c'\)\n/);
      assert.match(text, /unsupported: operator com.odd.Odd of version 1 \(nodes 'last'\)\n/);
      const report = JSON.parse(lathe(['inspect', '--json', file]).stdout);
      assert.deepEqual(report.unsupportedOperators['com.odd.Odd of version 1'], ['last']);
      fails(1, /operators that are not there: Inner .*Nothing .*com.odd.Odd/, ['compile', file]);
    },
  ),
);

test('compile writes a module without imports and a typed wrapper', options, () =>
  withModel(imageModel(), async (file, folder) => {
    const [expected] = Object.values(await resultsOf(readFileSync(file), { x }));
    const out = join(folder, 'net.wasm');
    const text = run('compile', file, '-o', out, '--shape=x=2,3,5,40', '--js', '--verify');
    assert.match(text, /net.wasm: \d+ bytes, entries run, memory/);
    const [y] = instantiate(readFileSync(out)).run([x.data]);
    near(y, expected);
    const { inputs, outputs, load } = await import(pathToFileURL(join(folder, 'net.mjs')));
    assert.deepEqual(inputs, [{ name: 'x', dtype: 'f32', shape: [2, 3, 5, 40] }]);
    assert.deepEqual(outputs, [{ name: 'y', dtype: 'f32', shape: [2, 16, 5, 24] }]);
    const net = await load();
    assert.deepEqual(net.run({ x: x.data }).y, y);
    assert.throws(() => net.run({}), /input x: expected Float32Array/);
    assert.throws(
      () => net.run({ x: new Float32Array(3) }),
      /expected 1200 values, \[2,3,5,40\], got 3/,
    );
    assert.match(readFileSync(join(folder, 'net.d.mts'), 'utf8'), /"x": Float32Array;\n/);
    // Symbolic sizes, and the other flags.
    run('compile', file, '-o', out, '--size', 'batch=2', '--size', 'height=5', '--features=simd');
    const sized = instantiate(readFileSync(out)).run([x.data])[0];
    near(sized, expected);
    const { stdout } = lathe(['compile', '-', '-o', '-', '--shape=x=2,3,5,40'], {
      input: readFileSync(file),
    });
    assert.equal(instantiate(stdout).run([x.data])[0].length, y.length);
  }),
);

test('compile names sizes that are missing, unknown or wrong', options, () =>
  withModel(imageModel(), (file, folder) => {
    const rejects = (status, pattern, ...args) => {
      fails(status, pattern, ['compile', file, '-o', join(folder, 'net.wasm'), ...args]);
      assert.deepEqual(readdirSync(folder), ['model.onnx']);
    };
    rejects(1, /sizes of its inputs are open: 'x' \[batch,3,height,40\]; --shape/);
    rejects(1, /are open: 'x'/, '--size=batch=2');
    rejects(1, /the model has no input 'z'; known: x/, '--shape=z=1');
    rejects(1, /the model has no size 'width'; known: batch, height/, '--size=width=1');
    rejects(1, /input 'x' expects \[batch,3,height,40\], not \[1,4,5,40\]/, '--shape=x=1,4,5,40');
    rejects(1, /not \[1,3\]/, '--shape=x=1,3');
    rejects(1, /: batch is 3 elsewhere/, '--shape=x=1,3,5,40', '--size=batch=3');
    rejects(1, /./, '--shape=x=999999999,3,999999999,40');
    rejects(2, /--shape x=1,a: "a" is no integer/, '--shape=x=1,a');
    rejects(2, /"-1" is no integer/, '--size=batch=-1');
    rejects(2, /--shape expects NAME=…, got 1,2/, '--shape=1,2');
    rejects(2, /--size batch: expects one size/, '--size=batch=1,2');
    rejects(2, /--batch is for models of layers/, '--batch=2');
    rejects(2, /--loss is for models of layers/, '--loss=meanSquaredError');
    const layers =
      '{"layers":[{"class":"Dense","config":{"name":"d","units":2,"inputShape":[1]}}]}';
    fails(2, /--shape is for ONNX models/, ['compile', '-', '--shape=x=1'], { input: layers });
    fails(2, /--js requires the name of the module/, ['compile', 'no.onnx', '--js']);
  }),
);

test('compile names the node whose output shape depends on data', options, async () => {
  const ends = { inputs: [value('x', 'float32', [4])], outputs: [value('y', 'int64', [1, null])] };
  const nonZero = model({
    nodes: [node('NonZero', ['x'], ['y'], {}, { name: 'indices' })],
    ...ends,
  });
  await withModel(nonZero, (file) => {
    const pattern =
      /NonZero 'indices': its operand is only available at run time\. One module has fixed sizes/;
    fails(1, pattern, ['compile', file]);
    assert.match(run('inspect', file), /cost +unknown: NonZero 'indices': /);
  });
  const reshape = model({
    nodes: [node('Reshape', ['x', 'shape'], ['y'], {}, { name: 'reshape' })],
    inputs: [value('x', 'float32', [4]), value('shape', 'int64', [2])],
    outputs: [value('y', 'float32')],
  });
  const pattern = /Reshape 'reshape': .* \(it follows from the inputs 'shape'\)\. .* a constant/;
  await withModel(reshape, (file, folder) => {
    fails(1, pattern, ['compile', file]);
    const out = join(folder, 'net.wasm');
    run('compile', file, '-o', out, '--value=shape=2,-1');
    assert.match(run('inspect', file, '--value=shape=2,-1'), /result +y float32 \[2,2\]/);
    assert.deepEqual([...instantiate(readFileSync(out)).run([[1, 2, 3, 4]])[0]], [1, 2, 3, 4]);
    fails(1, /makes an input constant/, ['compile', file]);
    fails(1, /'shape' of shape \[2\] cannot be bound to 1 values/, [
      'compile',
      file,
      '--value=shape=2',
    ]);
    fails(1, /'x' has no integer type/, ['compile', file, '--value=x=1,2,3,4']);
    fails(1, /has no input 'z'; known: shape, x/, ['compile', file, '--value=z=1']);
    fails(2, /--value shape=1,a: "a" is no integer/, ['compile', file, '--value=shape=1,a']);
  });
});

test(
  'external weights are read from the folder of the model and nowhere else',
  options,
  async () => {
    const weights = random(5, [4, 4]);
    const bytes = new Uint8Array(weights.data.buffer);
    const outside = (location, length = 64) =>
      model({
        nodes: [node('MatMul', ['x', 'w'], ['y'])],
        inputs: [value('x', 'float32', [1, 4])],
        outputs: [value('y', 'float32', [1, 4])],
        initializers: {
          w: { dtype: 'float32', shape: [4, 4], external: { location, offset: 8, length } },
        },
      });
    await withModel(outside('data/w.bin'), (file, folder) => {
      fails(1, /data\/w.bin: No such file/, ['compile', file]);
      const { stdout } = fails(1, /1 thing/, ['inspect', file]);
      assert.match(stdout.toString(), /unsupported: the file .*data\/w.bin is missing\n/);
      mkdirSync(join(folder, 'data'));
      writeFileSync(join(folder, 'data/w.bin'), Buffer.concat([Buffer.alloc(8), bytes]));
      assert.match(run('inspect', file), /external file +data\/w.bin\n/);
      const out = join(folder, 'net.wasm');
      run('compile', file, '-o', out);
      const [y] = instantiate(readFileSync(out)).run([[0, 1, 0, 0]]);
      assert.deepEqual(y, weights.data.slice(4, 8));
      writeFileSync(join(folder, 'data/w.bin'), Buffer.alloc(20));
      fails(1, /tensor 'w': bytes 8 to 72 of 'data\/w.bin', which has 20/, ['compile', file]);
    });
    for (const location of ['../w.bin', '/etc/hostname', 'a/../../w.bin']) {
      await withModel(outside(location), (file, folder) => {
        writeFileSync(join(folder, 'w.bin'), Buffer.alloc(80));
        fails(1, /must be in the folder of the model/, ['compile', file]);
        fails(1, /./, ['inspect', file]);
      });
    }
    await withModel(outside('w.bin'), (file, folder) => {
      symlinkSync('/etc/passwd', join(folder, 'w.bin'));
      fails(1, /w.bin: a link to what is not in the folder of the model; copy the file/, [
        'compile',
        file,
      ]);
    });
  },
);

test('files that are not ONNX models, truncated or damaged models are rejected', options, () =>
  withModel(imageModel(), (file, folder) => {
    const bytes = readFileSync(file);
    for (let end = 0; end < bytes.length; end += 97) {
      writeFileSync(file, bytes.subarray(0, end));
      for (const verb of ['inspect', 'compile']) {
        fails(1, /model.onnx/, [verb, file, '--shape=x=1,3,4,40']);
      }
      fails(1, /./, ['convert', file, '--weights=int8', '-o', join(folder, 'out.onnx')]);
    }
    const damaged = Buffer.from(bytes);
    for (let at = 0; at < 400; at += 7) {
      damaged[at] ^= 0xff;
      writeFileSync(file, damaged);
      assert.ok([0, 1].includes(lathe(['inspect', file]).status), `byte ${at}`);
      damaged[at] ^= 0xff;
    }
    writeFileSync(file, 'this is a text');
    fails(1, /model.onnx: /, ['inspect', file]);
    writeFileSync(file, '{"layers":[]}');
    fails(1, /model.onnx: /, ['compile', file]);
    // The format follows from the content where the extension of the file does not decide.
    writeFileSync(join(folder, 'model.bin'), bytes);
    assert.match(run('inspect', join(folder, 'model.bin')), /ONNX model/);
    writeFileSync(join(folder, 'photo.png'), 'PNG');
    fails(1, /photo.png/, ['inspect', join(folder, 'photo.png')]);
    fails(1, /No such file/, ['compile', join(folder, 'nothing.onnx')]);
  }),
);

for (const [bits, opset, tolerance, made] of [
  ['float16', 21, 2e-3, 'Cast'],
  ['int8', 21, 2e-2, 'DequantizeLinear'],
  ['int8', 12, 2e-2, 'Mul'],
  ['int4', 17, 0.2, 'com.microsoft.MatMulNBits'],
]) {
  test(`convert stores weights as ${bits} (operator set ${opset})`, options, () =>
    // An unknown protobuf field, and initializers that are inputs too, as in IR version 3.
    withModel(
      Buffer.concat([
        imageModel({
          opset,
          ir: 3,
          inputs: [
            value('x', 'float32', ['batch', 3, 'height', 40]),
            value('weights', 'float32', [40, 24]),
          ],
        }),
        new Message().text(999, 'unknown').encoded(),
      ]),
      async (file, folder) => {
        const expected = await ortResult(imageModel({ opset }), { x });
        const out = join(folder, 'small.onnx');
        assert.match(run('convert', file, `--weights=${bits}`, '-o', out), /\d tensors? as /);
        const small = readFileSync(out);
        assert.ok(small.length < readFileSync(file).length);
        assert.ok(small.includes('unknown'));
        const actual = await ortResult(small, { x });
        const scale = Math.max(...expected.map(Math.abs));
        const off = largestDifference(actual, expected) / scale;
        assert.ok(off > 0 && off < tolerance, `${off}`);
        // The compiled model returns the same.
        run('compile', out, '-o', join(folder, 'small.wasm'), '--shape=x=2,3,5,40');
        const [y] = instantiate(readFileSync(join(folder, 'small.wasm'))).run([x.data]);
        assert.ok(largestDifference(y, actual) / scale < 1e-5);
        const names = JSON.parse(lathe(['inspect', '--json', out]).stdout).operators;
        assert.ok(names.some(({ name }) => name === made));
      },
    ),
  );
}

test('convert quantizes weights of Constant nodes', options, () => {
  const w = random(1, [64, 32]);
  const original = model({
    nodes: [node('Constant', [], ['w'], { value: w }), node('MatMul', ['x', 'w'], ['y'])],
    inputs: [value('x', 'float32', ['batch', 64])],
    outputs: [value('y', 'float32', ['batch', 32])],
  });
  return withModel(original, async (file, folder) => {
    const feeds = { x: random(2, [3, 64]) };
    const expected = await ortResult(original, feeds);
    for (const [bits, tolerance] of Object.entries({ float16: 2e-3, int8: 2e-2, int4: 0.2 })) {
      const out = join(folder, `${bits}.onnx`);
      assert.match(run('convert', file, `--weights=${bits}`, '-o', out), /1 tensor as /);
      const small = readFileSync(out);
      assert.ok(small.length < 0.6 * original.length, `${small.length} bytes`);
      const off = largestDifference(await ortResult(small, feeds), expected);
      assert.ok(
        off > 0 && off / Math.max(...expected.map(Math.abs)) < tolerance,
        `${bits}: ${off}`,
      );
    }
  });
});

test('convert quantizes weights of branches', options, () => {
  const w = random(1, [64, 32]);
  const v = random(2, [64, 32]);
  const branch = (name, more) =>
    graph({
      outputs: [value(`${name}_y`, 'float32', ['batch', 32])],
      name,
      ...more,
      nodes: [...(more.nodes ?? []), node('MatMul', ['x', name], [`${name}_y`])],
    });
  // With the name 'w' in both branches the second weight stays unquantized.
  const original = (name) =>
    model({
      nodes: [
        node('If', ['is'], ['y'], {
          then_branch: branch('w', { initializers: { w } }),
          else_branch: branch(name, { nodes: [node('Constant', [], [name], { value: v })] }),
        }),
      ],
      inputs: [value('x', 'float32', ['batch', 64]), value('is', 'bool', [])],
      outputs: [value('y', 'float32', ['batch', 32])],
    });
  return withModel(original('v'), async (file, folder) => {
    for (const [bits, tolerance] of Object.entries({ float16: 2e-3, int8: 2e-2 })) {
      const out = join(folder, `${bits}.onnx`);
      assert.match(run('convert', file, `--weights=${bits}`, '-o', out), /2 tensors as /);
      const small = readFileSync(out);
      assert.ok(small.length < 0.6 * original('v').length, `${small.length} bytes`);
      for (const is of [0, 1]) {
        const feeds = { x: random(3, [3, 64]), is: tensor('bool', [is], []) };
        const expected = await ortResult(original('v'), feeds);
        const off = largestDifference(await ortResult(small, feeds), expected);
        assert.ok(
          off > 0 && off / Math.max(...expected.map(Math.abs)) < tolerance,
          `${bits}: ${off}`,
        );
      }
    }
    fails(1, /none of its weights can be int4/, ['convert', file, '-o', 'x', '--weights=int4']);
    writeFileSync(file, original('w'));
    fails(1, /none of its weights can be int8/, ['convert', file, '-o', 'x', '--weights=int8']);
  });
});

test('convert embeds external data and rejects invalid flags', options, () =>
  withModel(
    model({
      nodes: [node('MatMul', ['x', 'w'], ['a']), node('Add', ['a', 'b'], ['y'])],
      inputs: [value('x', 'float32', [1, 32])],
      outputs: [value('y', 'float32', [1, 32])],
      initializers: {
        w: { dtype: 'float32', shape: [32, 32], external: { location: 'w.bin' } },
        b: { dtype: 'float32', shape: [32], external: { location: 'b.bin' } },
      },
    }),
    async (file, folder) => {
      const w = random(7, [32, 32]);
      const b = random(8, [32]);
      for (const [name, { data }] of Object.entries({ w, b })) {
        writeFileSync(join(folder, `${name}.bin`), new Uint8Array(data.buffer));
      }
      mkdirSync(join(folder, 'out'));
      const out = join(folder, 'out/model.onnx');
      run('convert', file, '--weights=float16', '-o', out);
      const y = await ortResult(readFileSync(out), {
        x: tensor('float32', new Float32Array(32).fill(0), [1, 32]),
      });
      assert.deepEqual(y, b.data);
      fails(2, /--weights must be float16, int8 or int4, got int3/, [
        'convert',
        file,
        '-o',
        out,
        '--weights=int3',
      ]);
      fails(2, /--weights must be .*, got nothing/, ['convert', file, '-o', out]);
      fails(2, /--quantize is for models of layers/, [
        'convert',
        file,
        '-o',
        out,
        '--quantize=uint8',
      ]);
      fails(2, /convert needs -o/, ['convert', file, '--weights=int8']);
      // For a model from standard input external files are relative to the working directory.
      const piped = ['convert', '-', '-o', '-', '--weights=float16'];
      const { status, stdout, stderr } = lathe(piped, { input: readFileSync(file), cwd: folder });
      assert.equal(status, 0, stderr);
      assert.ok(stdout.equals(readFileSync(out)));
    },
  ),
);
