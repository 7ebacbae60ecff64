/** The weights of graphs: numbers, which the core decodes, and texts, each behind its length. */
import { LatheError } from '../base/errors.js';
import { elementCount } from '../base/shape.js';
import { joinBytes, type WeightSpec } from '../io/artifacts.js';
import { decodeWeights } from '../io/weight_data.js';
import { tensor } from '../tensor/create.js';
import { keep, tracked } from '../tensor/scopes.js';
import { Tensor } from '../tensor/tensor.js';

const isText = ({ dtype }: WeightSpec) => (dtype as string) === 'string';

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

/** Tensors that stay, by their names. Errors: an unknown type; too few bytes. */
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
  const areTexts = specs.some(isText);
  for (const spec of areTexts ? specs : []) {
    const { name, shape } = spec;
    if (isText(spec)) {
      const texts = Array.from({ length: elementCount(shape) }, () => text(name));
      weights.set(name, keep(tensor(texts as never, shape, 'string' as never)));
    } else numbers.push(take(bytesOf(spec), name));
  }
  const rest = areTexts ? joinBytes([...numbers, new Uint8Array(bytes, at)]) : bytes;
  const arrays = decodeWeights(
    specs.filter((spec) => !isText(spec)),
    rest,
    where,
  );
  for (const { name, data, shape, dtype } of arrays) {
    weights.set(name, keep(new Tensor(data, shape, dtype)[tracked]()));
  }
  return weights;
}
