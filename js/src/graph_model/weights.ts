/** The weights of graphs: numbers, which the core decodes, complex numbers, and strings with length prefixes. */
import { LatheError } from '../base/errors.js';
import { elementCount } from '../base/shape.js';
import { joinBytes, type WeightSpec } from '../io/artifacts.js';
import { decodeWeights } from '../io/weight_data.js';
import { complex } from '../ops/index.js';
import { tensor } from '../tensor/create.js';
import { tracked } from '../tensor/live_tensors.js';
import { keep, tidy } from '../tensor/scopes.js';
import { Tensor } from '../tensor/tensor.js';

/** The element type: graphs have more than layers. */
const typeOf = ({ dtype }: WeightSpec): string => dtype;
/** Types that the core does not decode. */
const isNonNumeric = (spec: WeightSpec) => ['string', 'complex64'].includes(typeOf(spec));

const stored: Readonly<Record<string, number>> = {
  float32: 4,
  int32: 4,
  bool: 1,
  float16: 2,
  uint16: 2,
  uint8: 1,
};
const bytesOf = ({ dtype, shape, quantization }: WeightSpec) =>
  elementCount(shape) * (stored[quantization?.dtype ?? dtype] ?? 0);

/** Weights as tensors outside any scope, by name; trailing bytes are ignored. Errors: an unknown type; too few bytes. */
export function weightTensors(
  specs: readonly WeightSpec[],
  bytes: ArrayBuffer,
  where: string,
): Map<string, Tensor> {
  const weights = new Map<string, Tensor>();
  const numbers: Uint8Array[] = [];
  let at = 0;
  const read = (length: number, name: string): Uint8Array => {
    const end = at + length;
    if (end > bytes.byteLength) {
      throw new LatheError(
        `${where}: it ends after ${bytes.byteLength} bytes, within the tensor ${name}`,
      );
    }
    const chunk = new Uint8Array(bytes, at, length);
    at = end;
    return chunk;
  };
  const text = (name: string): string => {
    const [a, b, c, d] = read(4, name) as unknown as [number, number, number, number];
    return new TextDecoder().decode(read(a + 256 * b + 65536 * c + 16777216 * d, name));
  };
  /** Decodes interleaved complex numbers. */
  const pairs = ({ name, shape }: WeightSpec): Tensor => {
    const all = new Float32Array(read(8 * elementCount(shape), name).slice().buffer);
    const [real, imag] = [0, 1].map((which) =>
      all.filter((_, component) => component % 2 === which),
    );
    return tidy(() => complex(tensor(real!, shape), tensor(imag!, shape)));
  };
  const texts = ({ name, shape }: WeightSpec): Tensor => {
    const all = Array.from({ length: elementCount(shape) }, () => text(name));
    return tensor(all as never, shape, 'string' as never);
  };
  const hasNonNumeric = specs.some(isNonNumeric);
  for (const spec of hasNonNumeric ? specs : []) {
    if (!isNonNumeric(spec)) numbers.push(read(bytesOf(spec), spec.name));
    else weights.set(spec.name, keep(typeOf(spec) === 'complex64' ? pairs(spec) : texts(spec)));
  }
  const length = specs.reduce((sum, spec) => sum + bytesOf(spec), 0);
  const exact = bytes.byteLength > length ? bytes.slice(0, length) : bytes;
  const rest = hasNonNumeric ? joinBytes(numbers) : exact;
  const arrays = decodeWeights(
    specs.filter((spec) => !isNonNumeric(spec)),
    rest,
    where,
  );
  for (const { name, data, shape, dtype } of arrays) {
    weights.set(name, keep(new Tensor(data, shape, dtype)[tracked]()));
  }
  return weights;
}
