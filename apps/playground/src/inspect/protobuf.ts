// The wire format of protocol buffers, as much as ONNX files need.

/** One field: a number, or the bytes of a string, message or packed numbers. */
interface Field {
  number: number;
  value: number;
  bytes?: Uint8Array;
}

/** The fields of a message, in order. Error: it is damaged. */
export function* fieldsOf(bytes: Uint8Array): Generator<Field> {
  let at = 0;
  const varint = () => {
    let [value, scale] = [0, 1];
    for (;;) {
      const byte = bytes[at++];
      if (byte === undefined) throw new Error('the file ends within a number');
      value += (byte & 127) * scale;
      if (byte < 128) return value;
      scale *= 128;
    }
  };
  const take = (count: number) => {
    if (at + count > bytes.length) throw new Error('the file ends within a field');
    at += count;
    return bytes.subarray(at - count, at);
  };
  while (at < bytes.length) {
    const tag = varint();
    const [number, kind] = [Math.floor(tag / 8), tag % 8];
    if (kind === 0) yield { number, value: varint() };
    else if (kind === 1) yield { number, value: 0, bytes: take(8) };
    else if (kind === 2) yield { number, value: 0, bytes: take(varint()) };
    else if (kind === 5) yield { number, value: 0, bytes: take(4) };
    else throw new Error(`a field has the unknown kind ${kind}`);
  }
}

const decoder = new TextDecoder();
export const textOf = ({ bytes }: Field) => decoder.decode(bytes);

/** The numbers of a field that is packed or single. */
export function numbersOf({ bytes, value }: Field): number[] {
  if (bytes === undefined) return [value];
  const found: number[] = [];
  let [sum, scale] = [0, 1];
  for (const byte of bytes) {
    sum += (byte & 127) * scale;
    scale *= 128;
    if (byte < 128) {
      found.push(sum);
      [sum, scale] = [0, 1];
    }
  }
  return found;
}
