// Compares results of a model with expected ones, as the runner of ONNX's backend tests does: floats within rtol 1e-3 and
// atol 1e-7, everything else exactly. Independent of files and engines.

const decimals = { float16: 10, bfloat16: 7 };
const isFloat = (dtype) => /^(float(32|64|16)|bfloat16|complex\d+)$/.test(dtype);

/** The number with these bits as float16 or bfloat16. */
function fromBits(dtype, bits) {
  if (dtype === 'bfloat16') return new Float32Array(Uint32Array.of(bits << 16).buffer)[0];
  const fraction = decimals[dtype];
  const exponent = (bits & 0x7fff) >> fraction;
  const rest = bits & ((1 << fraction) - 1);
  const sign = bits & 0x8000 ? -1 : 1;
  if (exponent === 31) return rest === 0 ? sign * Infinity : NaN;
  return sign * (exponent === 0 ? rest * 2 ** -24 : (1 + rest / 1024) * 2 ** (exponent - 15));
}

/** Elements as numbers; float16 data are bits or numbers. */
function numbersOf({ dtype, data }) {
  const isBits = dtype in decimals && data instanceof Uint16Array;
  return isBits ? Array.from(data, (bits) => fromBits(dtype, bits)) : data;
}

const limits = { rtol: 1e-3, atol: 1e-7 };

function isNear(expected, actual, { rtol, atol }) {
  if (Object.is(expected, actual) || expected === actual) return true;
  if (Number.isNaN(expected) || Number.isNaN(actual))
    return Number.isNaN(expected) && Number.isNaN(actual);
  return Math.abs(expected - actual) <= atol + rtol * Math.abs(expected);
}

/** How a value differs from the expected one; undefined if it does not. `random`: only type and shape are compared. */
export function difference(expected, actual, { random = false, ...tolerance } = {}) {
  if (expected === null || actual === null || actual === undefined) {
    return expected === actual ? undefined : `it is ${kindOf(actual)}, not ${kindOf(expected)}`;
  }
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual)) return `it is ${kindOf(actual)}, not a sequence`;
    if (expected.length !== actual.length)
      return `it has ${actual.length} values, not ${expected.length}`;
    const all = expected.map((each, at) => difference(each, actual[at], { random, ...tolerance }));
    return all.find((each) => each !== undefined);
  }
  if (expected.dtype !== actual.dtype) return `it is ${actual.dtype}, not ${expected.dtype}`;
  if (String(seen(expected)) !== String(seen(actual))) {
    return `its shape is [${actual.shape}], not [${expected.shape}]`;
  }
  if (random) return undefined;
  return differentElement(expected, actual, { ...limits, ...tolerance });
}

/** Strings are nested arrays: axes after an empty one are not visible. */
function seen({ dtype, shape }) {
  const end = dtype === 'string' ? shape.indexOf(0) : -1;
  return end < 0 ? shape : shape.slice(0, end + 1);
}

function differentElement(expected, actual, tolerance) {
  const [a, b] = [numbersOf(expected), numbersOf(actual)];
  if (a.length !== b.length) return `it has ${b.length} elements, not ${a.length}`;
  const inexact = isFloat(expected.dtype);
  let [count, first] = [0, 0];
  for (let at = a.length - 1; at >= 0; at--) {
    if (inexact ? isNear(a[at], b[at], tolerance) : a[at] === b[at]) continue;
    count++;
    first = at;
  }
  if (count === 0) return undefined;
  return `element ${first} is ${b[first]}, not ${a[first]} (${count} of ${a.length} differ)`;
}

function kindOf(value) {
  if (value === null) return 'none';
  if (value === undefined) return 'missing';
  return Array.isArray(value) ? 'a sequence' : 'a tensor';
}
