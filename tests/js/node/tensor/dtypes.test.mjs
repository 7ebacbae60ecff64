// All element types: tensors and compiled functions accept and return them; models reject those they do not support.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as tl from 'tensorlathe';
import { tables } from 'tensorlathe/tables';
import { throws, rejects, smallModel } from '../../lib.mjs';

const dtypes = tables.dtypes.map(({ numpy }) => numpy);
const arrayOf = (dtype) => globalThis[tables.dtypes.find(({ numpy }) => numpy === dtype).array];
const isFloat = (dtype) => dtype.includes('float');
const isLong = (dtype) => dtype === 'int64' || dtype === 'uint64';
const isHalf = (dtype) => dtype === 'float16' || dtype === 'bfloat16';
const bitsOf = (dtype) => Number(/\d+/.exec(dtype)[0]);
const isSigned = (dtype) => !dtype.startsWith('uint');

/** The result of a compiled function of one tensor. */
const applied = (x, build) =>
  tl
    .compile({ x: { shape: x.shape, dtype: x.dtype } }, ({ x }, g) => ({ y: build(x, g) }))
    .run({ x }).y;

/** Values representable in a type, including its minimum and maximum. */
function samples(dtype) {
  if (dtype === 'bool') return [false, true, true];
  if (isFloat(dtype)) {
    const few = [
      0, -0, 1, -1.5, 2.5, -3.5, 0.1, 300.75, -300.75, 32767.5, 65519, 65520, 1e-7, -6e-8,
    ];
    return [...few, 4e9, -4e9, 9.3e18, -1.9e19, 1e39, 1e-42, Infinity, -Infinity, NaN];
  }
  const bits = BigInt(bitsOf(dtype));
  const max = isSigned(dtype) ? 2n ** (bits - 1n) - 1n : 2n ** bits - 1n;
  const min = isSigned(dtype) ? -max - 1n : 0n;
  const some = [0n, 1n, 2n, 7n, 100n, 2049n, 2051n, 65519n, 2n ** 24n + 1n, 2n ** 53n + 1n];
  const inside = [...some, 2n ** 62n + 2n ** 38n + 1n, -1n, -100n, -(2n ** 40n) - 1n].filter(
    (each) => each >= min && each <= max,
  );
  const all = [...inside, min, max];
  return isLong(dtype) ? all : all.map(Number);
}

/** The values of all 65,536 bit patterns of a 16-bit format, computed from its definition. */
function patterns(dtype) {
  const fractionBits = dtype === 'float16' ? 10 : 7;
  const bias = 2 ** (14 - fractionBits) - 1;
  return Array.from({ length: 65536 }, (_, bits) => {
    const sign = bits >= 0x8000 ? -1 : 1;
    const exponent = (bits & 0x7fff) >> fractionBits;
    const fraction = (bits % 2 ** fractionBits) / 2 ** fractionBits;
    if (exponent === 2 * bias + 1) return fraction === 0 ? sign * Infinity : NaN;
    return (
      sign * (exponent === 0 ? fraction * 2 ** (1 - bias) : (1 + fraction) * 2 ** (exponent - bias))
    );
  });
}

/** The finite magnitudes of a 16-bit float, followed by the power of two that overflows to infinity. */
const magnitudes = Object.fromEntries(
  ['float16', 'bfloat16'].map((dtype) => {
    const values = patterns(dtype).slice(0, 0x8000).filter(Number.isFinite);
    return [dtype, [...values, 2 * values.at(-1) - values.at(-2)]];
  }),
);

/** The nearest value of a 16-bit float to an exact number, ties to even. */
function nearestHalf(value, dtype) {
  const all = magnitudes[dtype];
  const magnitude = Math.abs(value);
  if (Number.isNaN(value)) return NaN;
  const sign = value < 0 || Object.is(value, -0) ? -1 : 1;
  let [low, high] = [0, all.length - 1];
  if (magnitude >= all[high]) return sign * Infinity;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (all[middle] <= magnitude) low = middle;
    else high = middle;
  }
  const [below, above] = [magnitude - all[low], all[high] - magnitude];
  const at = below < above || (below === above && low % 2 === 0) ? low : high;
  return sign * (at === all.length - 1 ? Infinity : all[at]);
}

/** The nearest float32 to a 64-bit integer, ties to even. */
function nearestFloat(value) {
  if (Number.isSafeInteger(Number(value))) return Math.fround(Number(value));
  const bits = new Int32Array(1);
  const float = new Float32Array(bits.buffer);
  float[0] = Number(value);
  const middle = bits[0];
  const distances = [-1, 0, 1].map((step) => {
    bits[0] = middle + step;
    const distance = BigInt(float[0]) - value;
    return { value: float[0], distance: distance < 0n ? -distance : distance, odd: bits[0] & 1 };
  });
  const isBetter = (a, b) =>
    a.distance < b.distance || (a.distance === b.distance && a.odd < b.odd);
  return distances.reduce((best, each) => (isBetter(each, best) ? each : best)).value;
}

/** The result of a cast, computed with numbers and bigints. */
function reference(value, from, to) {
  if (to === 'bool') return value != 0 ? 1 : 0;
  if (!isFloat(to)) {
    const wrap = isSigned(to) ? BigInt.asIntN : BigInt.asUintN;
    let integer;
    if (!isFloat(from)) integer = wrap(bitsOf(to), BigInt(value));
    else {
      const max = 2n ** BigInt(bitsOf(to) - (isSigned(to) ? 1 : 0)) - 1n;
      const min = isSigned(to) ? -max - 1n : 0n;
      const limit = (each) => (each < min ? min : each > max ? max : each);
      integer = Number.isNaN(value)
        ? 0n
        : Math.abs(value) === Infinity
          ? value > 0
            ? max
            : min
          : limit(BigInt(Math.trunc(value)));
    }
    return isLong(to) ? integer : Number(integer);
  }
  if (to === 'float64') return Number(value);
  if (to === 'float32') return typeof value === 'bigint' ? nearestFloat(value) : Math.fround(value);
  return nearestHalf(Number(value), to);
}

test('the table lists every type', () => {
  assert.equal(dtypes.length, 13);
  for (const dtype of dtypes) {
    const data = tl.tensor([1], [1], dtype).dataSync();
    assert.equal(data.constructor, arrayOf(dtype), dtype);
  }
});

test('tensors of every type return their values', async () => {
  for (const dtype of dtypes) {
    const values = samples(dtype);
    const value = tl.tensor(values, undefined, dtype);
    assert.deepEqual([value.dtype, value.shape], [dtype, [values.length]]);
    assert.ok(value.toString(true).startsWith(`Tensor\n  dtype: ${dtype}\n`));
    assert.equal(await value.data(), value.dataSync());
    const expected = values.map((each) => (isFloat(dtype) ? reference(each, dtype, dtype) : each));
    const asNumbers = dtype === 'bool' ? expected.map(Number) : expected;
    assert.deepEqual(value.arraySync(), asNumbers, dtype);
    const copies = [tl.tensor(value), tl.tensor(value.dataSync(), undefined, dtype)];
    for (const copy of copies) {
      assert.deepEqual(copy.dataSync(), value.dataSync());
      assert.notEqual(copy.dataSync().buffer, value.dataSync().buffer);
    }
  }
});

test('typed arrays without a dtype are int32 or float32 where these have all their values', () => {
  for (const kind of ['Int8', 'Uint8', 'Uint8Clamped', 'Int16', 'Uint16', 'Int32']) {
    assert.equal(tl.tensor(new globalThis[`${kind}Array`](2)).dtype, 'int32', kind);
  }
  assert.equal(tl.tensor(new Float64Array(2)).dtype, 'float32');
  assert.equal(tl.tensor(new Uint32Array(2)).dtype, 'uint32');
  assert.equal(tl.tensor(BigInt64Array.of(-1n)).dtype, 'int64');
  assert.equal(tl.tensor(BigUint64Array.of(1n)).dtype, 'uint64');
  assert.equal(tl.tensor([[1n], [-2n]]).dtype, 'int64');
  assert.equal(tl.tensor(Uint8Array.of(200), [1], 'uint8').arraySync()[0], 200);
  assert.equal(tl.tensor(Uint8Array.of(200), [1], 'int8').arraySync()[0], -56);
  const buffer = Buffer.from([1, 2]);
  const copy = tl.tensor(buffer, [2], 'uint8');
  buffer[0] = 9;
  assert.deepEqual(copy.dataSync(), Uint8Array.of(1, 2));
  if (typeof Float16Array === 'undefined') return;
  assert.deepEqual(tl.tensor(Float16Array.of(0.5)).arraySync(), [0.5]);
  assert.deepEqual(tl.tensor(Float16Array.of(0.5), [1], 'float16').arraySync(), [0.5]);
});

for (const dtype of ['float16', 'bfloat16']) {
  test(`every ${dtype} decodes, encodes, and rounds to nearest even`, () => {
    const bits = Uint16Array.from({ length: 65536 }, (_, i) => i);
    const value = tl.tensor(bits, [65536], dtype);
    assert.deepEqual(value.dataSync(), bits);
    const numbers = value.arraySync();
    const expected = patterns(dtype);
    const wrong = numbers.findIndex((each, i) => !Object.is(each, expected[i]));
    assert.equal(wrong, -1);
    const encoded = tl.tensor(numbers, [65536], dtype).dataSync();
    const isNaNOf = (each) => Number.isNaN(expected[each]);
    assert.equal(
      encoded.findIndex((each, i) => each !== i && !(isNaNOf(i) && isNaNOf(each))),
      -1,
    );
    // Between neighbors: the midpoint rounds to even, other values to the nearer neighbor.
    const all = magnitudes[dtype];
    const middles = all.slice(1).map((each, i) => (each + all[i]) / 2);
    const near = (factor) =>
      middles.map((each, i) => each + factor * (all[i + 1] - all[i]) * 2 ** -30);
    const of = (values) => [...tl.tensor(values, undefined, dtype).dataSync()];
    const indices = middles.map((_, i) => i);
    assert.deepEqual(
      of(middles),
      indices.map((i) => i + (i % 2)),
    );
    assert.deepEqual(of(near(-1)), indices);
    assert.deepEqual(
      of(near(1)),
      indices.map((i) => i + 1),
    );
    assert.deepEqual(
      of(near(1).map((each) => -each)),
      indices.map((i) => 0x8000 + i + 1),
    );
  });
}

test('tensor(tensor, dtype) converts by value', () => {
  const half = tl.tensor([1.5, -2], [2], 'float16');
  assert.deepEqual(tl.tensor(half, [2], 'float32').arraySync(), [1.5, -2]);
  assert.deepEqual(tl.tensor(half, [2], 'bfloat16').arraySync(), [1.5, -2]);
  assert.deepEqual(tl.tensor(half, [2], 'bool').arraySync(), [1, 1]);
  throws(() => tl.tensor(half, [2], 'int64'), /int64 accepts integers .*, got 1\.5/);
  const long = tl.tensor([2n ** 62n + 2n ** 38n + 1n, -1n]);
  assert.deepEqual(tl.tensor(long, [2], 'float32').arraySync(), [2 ** 62 + 2 ** 39, -1]);
  assert.deepEqual(tl.tensor(long, [2], 'uint8').arraySync(), [1, 255]);
  assert.deepEqual(tl.oneHot(tl.tensor([1, 0], [2], 'float16'), 2).arraySync(), [
    [0, 1],
    [1, 0],
  ]);
  assert.deepEqual(tl.oneHot(tl.tensor([1n]), 2).arraySync(), [[0, 1]]);
});

test('values that a type cannot represent are rejected', () => {
  const range =
    'tensor: int64 accepts integers from -9223372036854775808 to 9223372036854775807, got';
  for (const each of [1.5, NaN, Infinity, 2 ** 63]) {
    throws(() => tl.tensor([each], [1], 'int64'), `${range} ${each}`);
  }
  throws(() => tl.tensor([2n ** 63n]), `${range} 9223372036854775808`);
  throws(() => tl.tensor([-1], [1], 'uint64'), /uint64 accepts integers from 0 to .*, got -1/);
  throws(() => tl.tensor(BigInt64Array.of(-1n), [1], 'uint64'), /, got -1$/);
  assert.deepEqual(tl.tensor([-(2 ** 63), true], [2], 'int64').arraySync(), [-(2n ** 63n), 1n]);
  throws(() => tl.tensor([1, 2n]), 'tensor: float32 accepts numbers, got the bigint 2; use int64');
  throws(() => tl.tensor(3n, [], 'int32'), /int32 accepts numbers, got the bigint 3/);
  const unknown = new RegExp(`unknown dtype "complex128"; known: ${dtypes.join(', ')}$`);
  throws(() => tl.tensor([1], [1], 'complex128'), unknown);
  throws(
    () => tl.compile({ x: { shape: [1], dtype: 'complex128' } }, ({ x }) => ({ y: x })),
    unknown,
  );
  throws(() => tl.compile({ x: [1] }, ({ x }) => ({ y: x.cast('complex128') })), unknown);
  throws(
    () => tl.compile({}, (_, g) => ({ y: g.variable('v', [1], undefined, 'complex128') })),
    unknown,
  );
  throws(
    () => tl.compile({ x: { shape: [1], dtype: 'int64' } }, ({ x }) => ({ y: x.add(0.5) })),
    /int64 accepts integers .*, got 0\.5/,
  );
});

test('functions return inputs of every type unchanged', () => {
  for (const dtype of dtypes) {
    const x = tl.tensor(samples(dtype), undefined, dtype);
    const y = applied(x, (x) => x.reshape([1, x.shape[0]]));
    assert.deepEqual([y.dtype, y.shape], [dtype, [1, x.size]]);
    assert.deepEqual(y.dataSync(), x.dataSync(), dtype);
  }
  for (const dtype of ['float16', 'bfloat16']) {
    const bits = tl.tensor(
      Uint16Array.from({ length: 65536 }, (_, i) => i),
      [65536],
      dtype,
    );
    assert.deepEqual(
      applied(bits, (x) => x.reverse()).dataSync(),
      bits.dataSync().slice().reverse(),
    );
  }
});

test('casts between all types', () => {
  for (const from of dtypes) {
    const x = tl.tensor(samples(from), undefined, from);
    const results = tl
      .compile({ x: { shape: x.shape, dtype: from } }, ({ x }) =>
        Object.fromEntries(dtypes.map((to) => [to, x.cast(to)])),
      )
      .run({ x });
    const values = x.arraySync();
    for (const to of dtypes) {
      const expected = values.map((each) => reference(each, from, to));
      assert.equal(results[to].dtype, to);
      assert.deepEqual(
        results[to].arraySync(),
        expected,
        `${from} to ${to} of ${values.join(', ')}`,
      );
    }
  }
});

test('sums with numbers, constants and tensors wrap to the type; those of 16-bit floats round once', () => {
  for (const dtype of dtypes.filter((each) => each !== 'bool')) {
    const x = tl.tensor(samples(dtype), undefined, dtype);
    const y = applied(x, (x, g) =>
      x
        .add(1)
        .add(
          g.constant(
            x.shape.map(() => 2),
            [1],
            dtype,
          ),
        )
        .add(x),
    );
    const values = x.arraySync();
    const plus = (a, b) => {
      if (!isFloat(dtype)) return reference(BigInt(a) + BigInt(b), 'int64', dtype);
      const between = isHalf(dtype) ? 'float32' : dtype;
      return reference(a + b, between, between);
    };
    const expected = values.map((each) => {
      const sum = plus(plus(plus(each, 1), 2), each);
      return isHalf(dtype) ? reference(sum, 'float32', dtype) : sum;
    });
    assert.equal(y.dtype, dtype);
    assert.deepEqual(y.arraySync(), expected, dtype);
  }
  const long = tl.tensor([2n ** 60n]);
  assert.deepEqual(applied(long, (x) => x.mul(3n).sub(1)).arraySync(), [3n * 2n ** 60n - 1n]);
});

test('inputs are converted to their dtype', () => {
  for (const dtype of dtypes) {
    const f = tl.compile({ x: { shape: [2], dtype } }, ({ x }) => ({ y: x.reshape([2, 1]) }));
    const expected = isLong(dtype) ? [[1n], [0n]] : [[1], [0]];
    const inputs = [[1, 0], Float32Array.of(1, 0), Float64Array.of(1, 0), Int32Array.of(1, 0)];
    const others = [Uint8ClampedArray.of(1, 0), tl.tensor([1, 0], [2], 'int16'), [true, false]];
    if (isLong(dtype)) inputs.push([1n, 0n], BigInt64Array.of(1n, 0n), BigUint64Array.of(1n, 0n));
    for (const x of [...inputs, ...others]) {
      assert.deepEqual(f.run({ x }).y.arraySync(), expected, `${dtype} of ${x.constructor.name}`);
    }
  }
  const f = tl.compile({ x: { shape: [2], dtype: 'float16' } }, ({ x }) => ({ y: x.add(1) }));
  assert.deepEqual(f.run({ x: Uint16Array.of(0x3c00, 0x4000) }).y.arraySync(), [2, 3]);
  const g = tl.compile({ x: { shape: [1], dtype: 'int64' } }, ({ x }) => ({ y: x.add(1) }));
  throws(() => g.run({ x: [0.5] }), /int64 accepts integers .*, got 0\.5/);
  throws(() => g.run({ x: Float32Array.of(NaN) }), /int64 accepts integers .*, got NaN/);
});

test('inputs, outputs and variables of every type share the memory', async () => {
  for (const dtype of dtypes.filter((each) => each !== 'bool')) {
    const f = tl.compile({ x: { shape: [3], dtype } }, ({ x }, g) => {
      const total = g.variable('total', [3], undefined, dtype);
      const factor = g.variable('factor', tl.tensor([2, 2, 2], [3], dtype));
      g.assign(total, total.add(x));
      return { y: x.mul(factor) };
    });
    const of = (values) => tl.tensor(values, [3], dtype);
    const [window, result] = [f.input('x'), f.output('y')];
    assert.equal(window.constructor, arrayOf(dtype));
    window.set(of([1, 2, 3]).dataSync());
    f.call();
    assert.deepEqual(result, of([2, 4, 6]).dataSync());
    await f.callAsync();
    assert.deepEqual(f.variable('total').dataSync(), of([2, 4, 6]).dataSync());
    assert.equal(f.variable('total').dtype, dtype);
    f.setVariable('factor', [3, 0, 1]);
    const runs = [f.runAsync({ x: [1, 2, 3] }), f.runAsync({ x: of([3, 2, 1]) })];
    const [first, second] = await Promise.all(runs);
    assert.deepEqual(first.y.dataSync(), of([3, 0, 3]).dataSync());
    assert.deepEqual(second.y.dataSync(), of([9, 0, 1]).dataSync());
    assert.deepEqual(f.variable('total').arraySync().map(Number), [6, 8, 10]);
    f.dispose();
  }
});

test('gradients of all float types', () => {
  for (const dtype of dtypes.filter(isFloat)) {
    const { d } = tl
      .compile({ x: { shape: [2], dtype } }, ({ x }, g) => ({
        d: g.grad(x.square().sum(), [x])[0],
      }))
      .run({ x: [1.5, -2] });
    assert.equal(d.dtype, dtype);
    assert.deepEqual(d.arraySync(), [3, -4]);
  }
});

test('models, labels, datasets and files name the types they accept', async () => {
  const model = smallModel();
  model.compile({ loss: 'sparseCategoricalCrossentropy', optimizer: 'sgd' });
  const supported = ['float32', 'int32', 'bool'];
  for (const dtype of dtypes.filter((each) => !supported.includes(each))) {
    const [x, y] = [tl.tensor([[1, 2]], [1, 2], dtype), tl.tensor([1], [1], dtype)];
    throws(() => model.predict(x), `predict: x has dtype ${dtype}, but the model expects float32`);
    throws(
      () => model.evaluate([[1, 2]], y, { asObject: true }),
      `evaluate: y has dtype ${dtype}, but labels are float32, int32 or bool`,
    );
    const rows = tl.data.array([{ xs: x.reshape?.([2]) ?? tl.tensor(x, [2]), ys: y }]).batch(1);
    await rejects(
      rows.toArray(),
      new RegExp(`has dtype ${dtype}; known here: float32, int32, bool$`),
    );
    throws(
      () => tl.losses.meanSquaredError(tl.tensor(x), [[1, 2]]),
      `meanSquaredError: labels has dtype ${dtype}; known here: float32, int32, bool`,
    );
    const array = { name: 'a', shape: [1], dtype, data: y.dataSync() };
    await rejects(
      tl.io.encodeSafetensors([array]),
      `encodeSafetensors: a has dtype ${dtype}; known here: float32, int32, bool`,
    );
    throws(
      () => tl.data.csv(new Blob(['a']), { columnConfigs: { a: { dtype } } }),
      `csv: the column a has dtype ${dtype}; known here: float32, int32, bool`,
    );
  }
  model.layers[1].setWeights([
    tl.tensor(new Float32Array(24).fill(0.5), [8, 3], 'float16'),
    tl.tensor([1, 2, 3], [3], 'int64'),
  ]);
  assert.deepEqual(model.layers[1].getWeights()[1].arraySync(), [1, 2, 3]);
});

for (const [dtype, one] of [
  ['float16', 0x3c00],
  ['bfloat16', 0x3f80],
]) {
  test(`products read every ${dtype} without conversion, as input or constant`, () => {
    const depth = 8; // enough for vector loads
    const ones = tl.tensor(new Uint16Array(depth).fill(one), [1, depth], dtype);
    const bits = Uint16Array.from({ length: depth * 65536 }, (_, i) => (i < 65536 ? i : 0));
    const w = tl.tensor(bits, [depth, 65536], dtype);
    const expected = patterns(dtype).map((each) => each + 0);
    const x = { shape: [1, depth], dtype };
    const functions = [
      tl.compile({ x, w: { shape: w.shape, dtype } }, ({ x, w }) => ({ y: x.matMul(w) })),
      tl.compile({ x }, ({ x }, g) => ({ y: x.matMul(g.constant(w)) })),
    ];
    for (const f of functions) {
      const y = f.run(f === functions[0] ? { x: ones, w } : { x: ones }).y.dataSync();
      assert.equal(
        expected.findIndex((each, i) => !Object.is(y[i], each)),
        -1,
      );
      f.dispose();
    }
  });
}

test('matrix products return the type they are computed in, tuned or not', async () => {
  const computed = { float16: 'float32', bfloat16: 'float32', float64: 'float64' };
  const unconverted = ['int32', 'uint32', 'int64', 'uint64', 'float32'];
  for (const dtype of dtypes.filter((each) => each !== 'bool')) {
    const result = computed[dtype] ?? (unconverted.includes(dtype) ? dtype : 'int32');
    const [rows, depth, columns] = [5, 9, 7];
    const lowest = dtype.startsWith('u') ? 0 : -3;
    const left = Array.from({ length: rows * depth }, (_, i) => ((i * 7) % 11) + lowest);
    const right = Array.from({ length: depth * columns }, (_, i) => ((i * 5) % 13) + lowest);
    const f = tl.compile(
      { x: { shape: [rows, depth], dtype }, y: { shape: [depth, columns], dtype } },
      ({ x, y }) => ({ z: x.matMul(y) }),
    );
    const expected = Array.from({ length: rows * columns }, (_, at) => {
      const [row, column] = [Math.floor(at / columns), at % columns];
      const terms = Array.from({ length: depth }, (_, k) => k);
      return terms.reduce((sum, k) => sum + left[row * depth + k] * right[k * columns + column], 0);
    });
    const inputs = {
      x: tl.tensor(left, [rows, depth], dtype),
      y: tl.tensor(right, [depth, columns], dtype),
    };
    for (const isTuned of [false, true]) {
      if (isTuned) await tl.tune(f, { budgetMs: 30 });
      const { z } = f.run(inputs);
      assert.equal(z.dtype, result);
      assert.deepEqual(
        z.dataSync(),
        tl.tensor(expected, [rows, columns], result).dataSync(),
        dtype,
      );
    }
    f.dispose();
  }
  const huge = tl.tensor([2n ** 62n], [1, 1]);
  assert.deepEqual(applied(huge, (x) => x.matMul([[4n]])).arraySync(), [[0n]]);
  const precise = tl.tensor([2 ** 53 - 1], [1, 1], 'float64');
  assert.deepEqual(applied(precise, (x) => x.matMul(x.mul(0).add(1))).arraySync(), [[2 ** 53 - 1]]);
});

test('a number operand that the integer type of the tensor cannot represent is rejected, eagerly and in traced functions', () => {
  const wrong = [
    ['int32', 2.5],
    ['int32', 2 ** 31],
    ['int32', NaN],
    ['uint8', 300],
    ['uint8', -1],
  ];
  for (const [dtype, number] of wrong) {
    const x = tl.tensor([1, 2, 3], [3], dtype);
    const message = new RegExp(`mul: ${number} is no ${dtype}.*cast the operands`);
    throws(() => x.mul(number), message);
    throws(() => applied(x, (each) => each.mul(number)), message);
  }
  const x = tl.tensor([1, 2, 3], [3], 'int32');
  assert.deepEqual(
    [...x.add(2 ** 31 - 4).dataSync()],
    [3, 2, 1].map((less) => 2 ** 31 - less),
  );
  assert.deepEqual([...x.cast('float32').mul(2.5).dataSync()], [2.5, 5, 7.5]);
});
