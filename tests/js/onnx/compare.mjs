// Compares what a model gives with what it should, as the runner of ONNX's backend tests does: floats within rtol 1e-3 and
// atol 1e-7, everything else exactly. Knows neither files nor engines.

const decimals = { float16: 10, bfloat16: 7 };
const isFloat = (dtype) => /^(float(32|64|16)|bfloat16|complex\d+)$/.test(dtype);

/** The number that the bits of a half or a bfloat16 are. */
function fromBits(dtype, bits) {
  if (dtype === 'bfloat16') return new Float32Array(Uint32Array.of(bits << 16).buffer)[0];
  const fraction = decimals[dtype];
  const exponent = (bits & 0x7fff) >> fraction;
  const rest = bits & ((1 << fraction) - 1);
  const sign = bits & 0x8000 ? -1 : 1;
  if (exponent === 31) return rest === 0 ? sign * Infinity : NaN;
  return sign * (exponent === 0 ? rest * 2 ** -24 : (1 + rest / 1024) * 2 ** (exponent - 15));
}

/** Elements as numbers; halves are given as their bits or as numbers. */
function numbersOf({ dtype, data }) {
  const isBits = dtype in decimals && data instanceof Uint16Array;
  return isBits ? Array.from(data, (bits) => fromBits(dtype, bits)) : data;
}

const limits = { rtol: 1e-3, atol: 1e-7 };

function isNear(wanted, got, { rtol, atol }) {
  if (Object.is(wanted, got) || wanted === got) return true;
  if (Number.isNaN(wanted) || Number.isNaN(got)) return Number.isNaN(wanted) && Number.isNaN(got);
  return Math.abs(wanted - got) <= atol + rtol * Math.abs(wanted);
}

/** How a value differs from the wanted one; undefined if it does not. `random`: only its type and shape count. */
export function difference(wanted, got, { random = false, ...tolerance } = {}) {
  if (wanted === null || got === null || got === undefined) {
    return wanted === got ? undefined : `it is ${kindOf(got)}, not ${kindOf(wanted)}`;
  }
  if (Array.isArray(wanted)) {
    if (!Array.isArray(got)) return `it is ${kindOf(got)}, not a sequence`;
    if (wanted.length !== got.length) return `it has ${got.length} values, not ${wanted.length}`;
    const all = wanted.map((each, at) => difference(each, got[at], { random, ...tolerance }));
    return all.find((each) => each !== undefined);
  }
  if (wanted.dtype !== got.dtype) return `it is ${got.dtype}, not ${wanted.dtype}`;
  if (String(seen(wanted)) !== String(seen(got))) {
    return `its shape is [${got.shape}], not [${wanted.shape}]`;
  }
  if (random) return undefined;
  return differentElement(wanted, got, { ...limits, ...tolerance });
}

/** Strings are nested arrays: behind an axis without elements there is nothing to see. */
function seen({ dtype, shape }) {
  const end = dtype === 'string' ? shape.indexOf(0) : -1;
  return end < 0 ? shape : shape.slice(0, end + 1);
}

function differentElement(wanted, got, tolerance) {
  const [a, b] = [numbersOf(wanted), numbersOf(got)];
  if (a.length !== b.length) return `it has ${b.length} elements, not ${a.length}`;
  const inexact = isFloat(wanted.dtype);
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
