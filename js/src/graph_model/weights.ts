/** The weights of graphs: numbers, which the core decodes, complex ones, and texts, each behind its length. */
import { LatheError } from '../base/errors.js';
import { elementCount } from '../base/shape.js';
import { joinBytes, type WeightSpec } from '../io/artifacts.js';
import { decodeWeights } from '../io/weight_data.js';
import { complex } from '../ops/index.js';
import { tensor } from '../tensor/create.js';
import { keep, tidy, tracked } from '../tensor/scopes.js';
import { Tensor } from '../tensor/tensor.js';

/** The type of its elements: graphs have some that layers do not. */
const typeOf = ({ dtype }: WeightSpec): string => dtype;
/** What the core does not decode. */
const isApart = (spec: WeightSpec) => ['string', 'complex64'].includes(typeOf(spec));

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

/** Tensors that stay, by their names; more bytes than they take do not matter. Errors: an unknown type; too few bytes. */
export function weightTensors(
  specs: readonly WeightSpec[],
  bytes: ArrayBuffer,
  where: string,
): Map<string, Tensor> {
  const weights = new Map<string, Tensor>();
  const numbers: Uint8Array[] = [];
  let at = 0;
  const take = (length: number, name: string): Uint8Array => {
    const end = at + length;
    if (end > bytes.byteLength) {
      throw new LatheError(
        `${where}: it ends after ${bytes.byteLength} bytes, within the tensor ${name}`,
      );
    }
    const taken = new Uint8Array(bytes, at, length);
    at = end;
    return taken;
  };
  const text = (name: string): string => {
    const [a, b, c, d] = take(4, name) as unknown as [number, number, number, number];
    return new TextDecoder().decode(take(a + 256 * b + 65536 * c + 16777216 * d, name));
  };
  /** Tensors of what comes in pairs. */
  const pairs = ({ name, shape }: WeightSpec): Tensor => {
    const all = new Float32Array(take(8 * elementCount(shape), name).slice().buffer);
    const [real, imag] = [0, 1].map((which) => all.filter((_, place) => place % 2 === which));
    return tidy(() => complex(tensor(real!, shape), tensor(imag!, shape)));
  };
  const texts = ({ name, shape }: WeightSpec): Tensor => {
    const all = Array.from({ length: elementCount(shape) }, () => text(name));
    return tensor(all as never, shape, 'string' as never);
  };
  const areApart = specs.some(isApart);
  for (const spec of areApart ? specs : []) {
    if (!isApart(spec)) numbers.push(take(bytesOf(spec), spec.name));
    else weights.set(spec.name, keep(typeOf(spec) === 'complex64' ? pairs(spec) : texts(spec)));
  }
  const length = specs.reduce((sum, spec) => sum + bytesOf(spec), 0);
  const exact = bytes.byteLength > length ? bytes.slice(0, length) : bytes;
  const rest = areApart ? joinBytes(numbers) : exact;
  const arrays = decodeWeights(
    specs.filter((spec) => !isApart(spec)),
    rest,
    where,
  );
  for (const { name, data, shape, dtype } of arrays) {
    weights.set(name, keep(new Tensor(data, shape, dtype)[tracked]()));
  }
  return weights;
}
