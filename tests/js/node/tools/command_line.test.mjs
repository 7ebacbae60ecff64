// The command `lathe`: saved models in; modules and saved models out; help, exit codes.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import * as tf from '@tensorflow/tfjs';
import * as tl from 'tensorlathe';
import { inFolder, instantiate, lathe, predictions, program, run, skip } from '../../command.mjs';
import { largestDifference } from '../../lib.mjs';

const options = { skip };

/** Three kinds of models, with the shape of one example. */
const models = {
  'a trained network': [
    async () => {
      const model = tl.sequential({ name: 'net', seed: 3 });
      model.add(tl.layers.dense({ units: 8, activation: 'gelu', inputShape: [4], name: 'a' }));
      model.add(tl.layers.batchNormalization({ name: 'norm' }));
      model.add(tl.layers.dense({ units: 3, activation: 'softmax', name: 'b' }));
      model.compile({ loss: 'categoricalCrossentropy', optimizer: 'adam', metrics: ['auc'] });
      const x = tl.tensor2d(Array.from({ length: 20 }, (_, i) => [i % 3, i % 5, i % 7, 1]));
      const y = tl.tensor2d(
        Array.from({ length: 20 }, (_, i) => [0, 1, 2].map((k) => +(i % 3 === k))),
      );
      await model.fit(x, y, { epochs: 2, batchSize: 5 });
      return model;
    },
    [4],
  ],
  'images with zero padding': [
    () => {
      const x = tl.input({ shape: [6, 5, 2], name: 'image' });
      const padded = tl.layers
        .zeroPadding2d({
          padding: [
            [1, 0],
            [2, 1],
          ],
        })
        .apply(x);
      const conv = tl.layers.conv2d({
        filters: 4,
        kernelSize: [3, 2],
        strides: 2,
        activation: 'relu',
      });
      const flat = tl.layers.flatten().apply(conv.apply(padded));
      const inner = tl.sequential({ name: 'inner' });
      inner.add(tl.layers.dense({ units: 3, inputShape: [48], name: 'deep' }));
      return tl.model({ inputs: x, outputs: inner.apply(flat), name: 'graph' });
    },
    [6, 5, 2],
  ],
  'a bidirectional recurrent network': [
    () => {
      const model = tl.sequential();
      const layer = tl.layers.lstm({
        units: 3,
        returnSequences: true,
        recurrentActivation: 'hardSigmoid',
      });
      model.add(tl.layers.bidirectional({ layer, inputShape: [5, 2], mergeMode: 'concat' }));
      model.add(tl.layers.timeDistributed({ layer: tl.layers.dense({ units: 2 }) }));
      return model;
    },
    [5, 2],
  ],
};

for (const [name, [make, shape]] of Object.entries(models)) {
  test(`${name}: the compiled saved model predicts the same as the package`, options, () =>
    inFolder(async (folder) => {
      const model = await make();
      const size = shape.reduce((a, b) => a * b, 4);
      const x = Float32Array.from({ length: size }, (_, at) => Math.sin(at));
      const expected = model.predict(tl.tensor(x, [4, ...shape])).dataSync();
      const near = (values, tolerance) =>
        assert.ok(largestDifference(values, expected) < tolerance, `${values} ${expected}`);
      await model.save(`file://${folder}/saved`, { includeOptimizer: true });
      near((await predictions(join(folder, 'saved'), [x], [[4, ...shape]]))[0], 1e-5);
      // Converted by the command, lossless and quantized, and loaded by the package and by TensorFlow.js.
      for (const [flags, tolerance] of [
        [[], 1e-5],
        [['--training'], 1e-5],
        [['--quantize=float16'], 0.02],
        [['--quantize=uint8'], 0.2],
      ]) {
        const path = join(folder, 'converted');
        rmSync(path, { recursive: true, force: true });
        run('convert', join(folder, 'saved'), '-o', path, ...flags);
        const ours = await tl.loadLayersModel(`file://${path}`);
        near(ours.predict(tl.tensor(x, [4, ...shape])).dataSync(), tolerance);
        assert.equal(ours.countParams(), model.countParams());
        ours.dispose();
        if (name.includes('trained')) continue; // TensorFlow.js has no gelu
        const { weightsManifest, ...rest } = JSON.parse(readFileSync(join(path, 'model.json')));
        const [shard] = weightsManifest[0].paths;
        const weightData = Uint8Array.from(readFileSync(join(path, shard))).buffer;
        const load = async () => ({ ...rest, weightSpecs: weightsManifest[0].weights, weightData });
        const theirs = await tf.loadLayersModel({ load });
        near(theirs.predict(tf.tensor(x, [4, ...shape])).dataSync(), tolerance);
      }
      model.dispose();
    }),
  );
}

test('a compiled training module resumes training', options, () =>
  inFolder(async (folder) => {
    const model = await models['a trained network'][0]();
    const [first, second] = [join(folder, 'first'), join(folder, 'second')];
    await model.save(`file://${first}`, { includeOptimizer: true });
    run('convert', first, '-o', second, '--training');
    const specsOf = (path) =>
      JSON.parse(readFileSync(join(path, 'model.json'))).weightsManifest[0].weights;
    assert.deepEqual(specsOf(second), specsOf(first));
    const bytesOf = (path) =>
      readdirSync(path)
        .filter((each) => each.endsWith('.bin'))
        .map((each) => readFileSync(join(path, each)).toString('hex'));
    assert.deepEqual(bytesOf(second), bytesOf(first));
    const { trainingConfig } = JSON.parse(readFileSync(join(second, 'model.json')));
    assert.equal(trainingConfig.optimizer_config.class_name, 'Adam');
    assert.deepEqual(trainingConfig.tensorlathe_metrics, ['auc']);
    const file = join(folder, 'module.wasm');
    run('compile', second, '-o', file, '--training');
    const entries = Object.keys(instantiate(readFileSync(file)));
    for (const name of ['train', 'evaluate']) assert.ok(entries.includes(name));
    model.dispose();
  }),
);

test('inspect prints the costs of a model and its unsupported layers', options, () =>
  inFolder(async (folder) => {
    const model = await models['images with zero padding'][0]();
    await model.save(`file://${folder}`);
    const text = run('inspect', folder);
    assert.match(text, /conv2d_Conv2D1 \(Conv2D\) +\[3,4,4\] +52 +576\n/);
    assert.match(text, /inner \(Model\) +\[3\] +\d+ +\d+\n {4}deep \(Dense\)/);
    const report = JSON.parse(run('inspect', '--json', join(folder, 'model.json')));
    assert.equal(report.summary.totalParams, model.countParams());
    assert.equal(report.memory.weights, 4 * model.countParams());
    const sum = Object.values(report.layers).reduce((a, b) => a + b, 0);
    assert.equal(report.multiplyAdds, sum);
    const json = readFileSync(join(folder, 'model.json'), 'utf8');
    writeFileSync(
      join(folder, 'model.json'),
      json.replace('"Conv2D"', '"Conv9D"').replace('"Flatten"', '"Flatter"'),
    );
    const { status, stdout, stderr } = lathe(['inspect', folder]);
    assert.equal(status, 1);
    assert.match(
      stdout.toString(),
      /unsupported: layer "conv2d_Conv2D1" \(Conv9D\) is of an unknown class/,
    );
    assert.match(stdout.toString(), /unsupported: layer "flatten_Flatten1" \(Flatter\)/);
    assert.match(stderr, /model.json: 2 things in it are not supported/);
    model.dispose();
  }),
);

const small =
  '{"layers":[{"class":"Dense","config":{"name":"d","units":2,"inputShape":[1],"kernelInitializer":"ones"}}]}';

test('- is standard input and output', options, () =>
  inFolder(async (folder) => {
    const compiled = lathe(['compile', '-', '-o', '-'], { input: small });
    assert.equal(compiled.status, 0, compiled.stderr);
    assert.deepEqual([...instantiate(compiled.stdout).predict_1([[3]])[0]], [3, 3]);
    const validated = lathe(['validate', '-'], { input: compiled.stdout });
    assert.equal(validated.stdout.toString(), '-: valid\n');
    assert.match(lathe(['wat', '-'], { input: compiled.stdout }).stdout.toString(), /^\(module/);
    assert.match(lathe(['inspect', '-'], { input: compiled.stdout }).stdout.toString(), /exports/);
    assert.match(lathe(['inspect', '-'], { input: small }).stdout.toString(), /d \(Dense\)/);
    const model = { layers: JSON.parse(small).layers };
    writeFileSync(join(folder, 'options.json'), '{"batch":{"predict":3}}');
    const args = ['compile', '-', 'options.json', '-o', 'out.wasm'];
    assert.equal(lathe(args, { input: JSON.stringify(model), cwd: folder }).status, 0);
    const predicted = (rows) =>
      instantiate(readFileSync(join(folder, 'out.wasm'))).predict([rows])[0].length;
    assert.equal(predicted([1, 2, 3]), 6);
    const flagged = lathe([...args, '--batch', '2'], { input: JSON.stringify(model), cwd: folder });
    assert.equal(flagged.status, 0);
    assert.equal(predicted([1, 2]), 4);
  }),
);

test('input can be a pipe', options, () =>
  inFolder(async (folder) => {
    const shell = (script) => {
      const settings = { cwd: folder, encoding: 'utf8', env: { ...process.env, LATHE: program } };
      const { status, stdout, stderr } = spawnSync('bash', ['-c', script], settings);
      assert.equal(status, 0, stderr);
      return stdout;
    };
    writeFileSync(join(folder, 'small.json'), small);
    shell('"$LATHE" compile <(cat small.json) -o net.wasm');
    const module = readFileSync(join(folder, 'net.wasm'));
    assert.deepEqual([...instantiate(module).predict_1([[3]])[0]], [3, 3]);
    assert.match(shell('"$LATHE" inspect <(cat small.json)'), /d \(Dense\)/);
    assert.match(shell('"$LATHE" inspect <(cat net.wasm)'), /exports/);
  }),
);

test('compile never overwrites its inputs', options, () =>
  inFolder((folder) => {
    const at = (name) => join(folder, name);
    writeFileSync(at('model.json'), small);
    writeFileSync(at('options.json'), '{}');
    symlinkSync('model.json', at('link.json'));
    for (const args of [
      ['model.json', '-o', 'model.json'],
      ['.', '-o', 'model.json'],
      ['./model.json', '-o', 'link.json'],
      ['model.json', 'options.json', '-o', 'options.json'],
    ]) {
      const { status, stderr } = lathe(['compile', ...args], { cwd: folder });
      assert.equal(status, 2, args.join(' '));
      assert.match(stderr, /^lathe: -o .*json: is the compiled model/);
      assert.equal(readFileSync(at('model.json'), 'utf8'), small);
    }
  }),
);

test('with the module on standard output, reports go to standard error', options, () => {
  const compile = (...args) => lathe(['compile', '-', ...args], { input: small });
  const flags = ['--time-passes', '--dump=after:*'];
  const { status, stdout, stderr } = compile('-o', '-', ...flags);
  assert.equal(status, 0, stderr);
  assert.ok(stdout.equals(compile('-o', '-').stdout));
  for (const text of [stderr, compile(...flags).stdout.toString()]) {
    assert.match(text, /^=== after:/m);
    assert.match(text, /ms {2}in all$/m);
  }
});

test('a failed write to standard output is an error', options, () => {
  for (const [args, input] of [
    [['help']],
    [['--version']],
    [['describe']],
    [['inspect', '-'], small],
    [['compile', '-'], small],
  ]) {
    const full = openSync('/dev/full', 'w');
    const { status, stderr } = lathe(args, { input, stdout: full });
    closeSync(full);
    assert.equal(status, 1, args.join(' '));
    assert.match(stderr, /lathe: standard output: No space left on device\n$/);
  }
});

test('-o writes through links, pipes and devices without replacing them', options, () =>
  inFolder((folder) => {
    const at = (name) => join(folder, name);
    const compile = (out) => lathe(['compile', '-', '-o', out], { input: small, cwd: folder });
    assert.equal(compile('file.wasm').status, 0);
    const expected = readFileSync(at('file.wasm'));
    // Links to a file, to a missing file and to a device.
    writeFileSync(at('old.wasm'), 'old');
    const links = { old: 'old.wasm', fresh: 'fresh.wasm', device: '/dev/null' };
    for (const [name, target] of Object.entries(links)) {
      symlinkSync(target, at(name));
      const { status, stderr } = compile(name);
      assert.equal(status, 0, stderr);
      assert.equal(readlinkSync(at(name)), target);
    }
    assert.ok(readFileSync(at('old.wasm')).equals(expected));
    assert.ok(readFileSync(at('fresh.wasm')).equals(expected));
    assert.ok(statSync(at('device')).isCharacterDevice());
    assert.equal(spawnSync('mkfifo', [at('pipe')]).status, 0);
    // Opened for reading and writing, so that neither end blocks; the module fits into the pipe.
    const pipe = openSync(at('pipe'), 'r+');
    assert.equal(compile('pipe').status, 0);
    assert.ok(statSync(at('pipe')).isFIFO());
    const read = Buffer.alloc(expected.length);
    assert.equal(readSync(pipe, read), expected.length);
    closeSync(pipe);
    assert.ok(read.equals(expected));
    const left = ['file.wasm', 'pipe', ...Object.keys(links), 'old.wasm', 'fresh.wasm'];
    assert.deepEqual(readdirSync(folder).sort(), left.sort());
  }),
);

test('exit code 1 is a failure, 2 is wrong usage', options, () =>
  inFolder(async (folder) => {
    const code = (...args) => lathe(args, { input: small, cwd: folder }).status;
    assert.equal(code('help'), 0);
    assert.equal(code('passes'), 0);
    assert.equal(code('compile', '-'), 0);
    assert.equal(code('compile', '-', '--features='), 0);
    for (const args of [
      ['compile', 'nothing.json'],
      ['compile', '-', '--training'],
      ['compile', '-', '-o', 'no/such/folder/out.wasm'],
      ['inspect', 'nothing.wasm'],
    ]) {
      const { status, stderr } = lathe(args, { input: small, cwd: folder });
      assert.equal(status, 1, args.join(' '));
      assert.match(stderr, /^lathe: ./);
    }
    for (const args of [
      ['nonsense'],
      ['compile'],
      ['compile', '-', '--nonsense'],
      ['wat', 'a', 'b'],
      ['wat', '-o', 'x'],
      ['help', 'nothing'],
      ['completion', 'csh'],
      ['convert', '-'],
      ['convert', '-', '-o', 'folder', '--quantize', 'x'],
      ['convert', '-', '-o', 'folder', '--quantize='],
      ['inspect', '-', '--sizes=a'],
      ['compile', '-', '--batch', '0'],
      ['compile', '-', '--labels', 'x'],
      ['compile', '-', '--loss', 'nonsense'],
      ['compile', '-', '--loss=meanSquaredError', '--optimizer', 'x'],
      ['compile', '-', '--features', 'x'],
      ['compile', '-', '--dump', 'after:x'],
      ['compile', '-', '-o', ''],
      ['compile', '-', '--weights='],
      ['compile', ''],
    ]) {
      const { status, stderr } = lathe(args, { input: small, cwd: folder });
      assert.equal(status, 2, args.join(' '));
      assert.match(stderr, /^lathe: .+\nusage: lathe |^lathe: unknown verb/m);
    }
    assert.ok(!existsSync(join(folder, 'no')));
  }),
);

test('mistyped verbs and flags name the nearest; a folder its model', options, () =>
  inFolder((folder) => {
    const said = (...args) => lathe(args, { cwd: folder }).stderr.split('\n')[0];
    assert.equal(
      said('compille'),
      'lathe: unknown verb "compille"; did you mean compile? `lathe help` lists them',
    );
    assert.equal(said('qqqqqq'), 'lathe: unknown verb "qqqqqq"; `lathe help` lists them');
    assert.equal(
      said('compile', 'x', '--bathc', '3'),
      'lathe: unknown flag --bathc; did you mean --batch?',
    );
    assert.equal(
      said('compile', 'x', '--bathc=3'),
      'lathe: unknown flag --bathc=3; did you mean --batch?',
    );
    assert.equal(said('run', '.'), 'lathe: .: is a folder; `lathe run` needs an ONNX model');
    assert.match(
      lathe(['compile', '-'], { input: small }).stdout.toString(),
      /^not written, as -o OUT\.wasm is missing: \d+ bytes, entries /,
    );
    writeFileSync(join(folder, 'net.onnx'), '');
    assert.equal(said('run', '.'), 'lathe: .: is a folder; run ./net.onnx');
    for (const verb of ['compile', 'inspect']) {
      assert.equal(
        said(verb, '.'),
        'lathe: .: is a folder without model.json; there is ./net.onnx',
      );
    }
  }),
);

test('errors name the files and flags that do not apply', options, () =>
  inFolder((folder) => {
    const fails = (code, expected, input, ...args) => {
      const { status, stderr } = lathe(args, { input, cwd: folder });
      assert.equal(status, code, args.join(' '));
      assert.match(stderr, expected);
    };
    fails(2, /-o expects a FOLDER/, small, 'convert', '-', '-o', '-');
    fails(2, /--labels requires a loss/, small, 'compile', '-', '--labels=sparse');
    fails(2, /--optimizer requires a loss/, small, 'compile', '-', '--optimizer=sgd');
    fails(1, /: no\/out.wasm: No such file/, small, 'compile', '-', '-o', 'no/out.wasm');
    const module = lathe(['compile', '-', '-o', '-'], { input: small }).stdout;
    fails(2, /--json is for models/, module, 'inspect', '-', '--json');
    fails(2, /--sizes is for models/, module, 'inspect', '-', '--sizes=1');
    for (const input of ['', '[]', 'text']) {
      fails(1, /is no model.json, no ONNX model and no WebAssembly module/, input, 'inspect', '-');
    }
    const keras = Buffer.from('\x89HDF\r\n\x1a\n', 'latin1');
    writeFileSync(join(folder, 'keras.h5'), keras);
    for (const verb of ['inspect', 'compile']) {
      for (const file of ['-', 'keras.h5']) {
        fails(1, /is a file of Keras \(HDF5\)/, keras, verb, file);
      }
    }
    assert.deepEqual(readdirSync(folder), ['keras.h5']);
    const others = {
      'is a JPEG image': '\xff\xd8\xff\xe0\0\x10JFIF',
      'is a PNG image': '\x89PNG\r\n\x1a\n',
      'is a file of PyTorch; torch.onnx.export': 'PK\x03\x04\0\0\x08\x08\0\0archive/data.pkl',
      'is a ZIP archive': 'PK\x03\x04\x14\0',
      'is a safetensors file: weights only': '\x40\0\0\0\0\0\0\0{"w":{"dtype":"F32"',
      'is a TensorFlow Lite model; tf2onnx': '\x1c\0\0\0TFL3\0\0',
      'is a pointer of Git LFS': 'version https://git-lfs.github.com/spec/v1\n',
      'is an HTML page': '<!doctype html>',
    };
    for (const [expected, bytes] of Object.entries(others)) {
      const content = Buffer.from(bytes, 'latin1');
      writeFileSync(join(folder, 'page.onnx'), content);
      writeFileSync(join(folder, 'page.bin'), content);
      for (const verb of ['inspect', 'compile']) {
        for (const file of ['-', 'page.bin', 'page.onnx']) {
          fails(
            1,
            new RegExp(`^lathe: (standard input|-|page.*): ${expected}`),
            content,
            verb,
            file,
          );
        }
      }
    }
  }),
);

test('--js is rejected before any file exists', options, () =>
  inFolder((folder) => {
    const train = ['--loss=meanSquaredError', '--optimizer=sgd'];
    const compile = (...args) => lathe(['compile', ...args], { input: small, cwd: folder });
    const rejects = (expected, ...args) => {
      const { status, stdout, stderr } = compile(...args, '--js');
      assert.equal(status, 2, args.join(' '));
      assert.match(stderr, expected);
      assert.equal(stdout.length, 0);
      assert.deepEqual(readdirSync(folder), []);
    };
    // The model is not even read.
    rejects(/--js requires the name of the module/, 'nothing.json', ...train);
    rejects(/--js requires the name of the module/, 'nothing.json', ...train, '-o', '-');
    const untrained = /no entry train: use --training, or --loss NAME --optimizer NAME/;
    rejects(untrained, '-', '-o', 'net.wasm');
    rejects(untrained, '-', '-o', 'net.wasm', train[0]);
    const threads = ['--features=threads,simd', '-o', 'net.wasm', '--batch=1000000'];
    rejects(/omit the feature threads/, '-', ...train, ...threads);
    assert.equal(compile('-', '-o', 'net.wasm', ...train, '--js').status, 0);
    assert.deepEqual(readdirSync(folder).sort(), ['net.mjs', 'net.wasm']);
  }),
);

test('help describes every verb and the exit codes', options, () => {
  const text = run('help');
  const verbs = [...text.matchAll(/^lathe (\w+)/gm)].map(([, name]) => name);
  assert.deepEqual(verbs.slice(0, 3), ['compile', 'inspect', 'convert']);
  for (const verb of verbs) {
    const more = run('help', verb);
    assert.equal(run(verb, '--help'), verb === 'help' ? text : more);
    assert.match(more, new RegExp(`^lathe ${verb}`));
    assert.match(more, /Exit codes: 0 done; 1 .*; *\n?2 wrong use/s);
  }
  assert.match(run('help', 'compile'), /--weights=FILE.safetensors +weights instead of/);
});

test('the version equals that of the package', options, () => {
  const { version } = JSON.parse(
    readFileSync(new URL('../../../../js/package.json', import.meta.url)),
  );
  assert.equal(run('--version'), `lathe ${version}\n`);
});
