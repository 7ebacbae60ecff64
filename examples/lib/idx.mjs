// Reads and writes the idx files of MNIST (http://yann.lecun.com/exdb/mnist, "file format"), plain or gzip.

/**
 * Bytes of an idx file of unsigned bytes -> {shape, data}. `name` is how errors call the file.
 * Errors: not idx, another element type, fewer or more bytes than the header says.
 */
export function parseIdx(bytes, name) {
  const rank = bytes[3];
  if (bytes.length < 4 || bytes[0] !== 0 || bytes[1] !== 0 || rank < 1 || rank > 4) {
    throw new Error(
      `${name}: no idx file (it starts with ${magic(bytes)}, not 00 00 08 and the number of axes)`,
    );
  }
  if (bytes[2] !== 8)
    throw new Error(
      `${name}: idx element type 0x${hex(bytes[2])}; only 0x08, unsigned bytes, is read`,
    );
  const start = 4 + 4 * rank;
  if (bytes.length < start)
    throw new Error(`${name}: truncated within the header, ${bytes.length} bytes`);
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const shape = Array.from({ length: rank }, (_, axis) => view.getUint32(4 + 4 * axis));
  const length = shape.reduce((total, size) => total * size, 1);
  if (bytes.length !== start + length) {
    const how = bytes.length < start + length ? 'truncated' : 'too long';
    throw new Error(
      `${name}: ${how}: ${bytes.length} bytes, but its shape [${shape}] needs ${start + length}`,
    );
  }
  return { shape, data: bytes.subarray(start) };
}

/** The bytes of an idx file with this content. */
export function writeIdx(shape, data) {
  const bytes = new Uint8Array(4 + 4 * shape.length + data.length);
  bytes.set([0, 0, 8, shape.length]);
  const view = new DataView(bytes.buffer);
  shape.forEach((size, axis) => view.setUint32(4 + 4 * axis, size));
  bytes.set(data, 4 + 4 * shape.length);
  return bytes;
}

/** Unpacks gzip; other bytes pass unchanged. Error: a damaged file. */
export async function unpack(bytes, name) {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  try {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  } catch (error) {
    throw new Error(`${name}: damaged or truncated gzip file`, { cause: error });
  }
}

/**
 * A pair of idx files, images [count, 28, 28] and labels [count] of 0 … 9 -> {images, labels, count}.
 * Errors: as parseIdx and unpack; shapes that do not go together; labels out of range.
 */
export async function readDigits(images, labels) {
  const pictures = parseIdx(await unpack(images.bytes, images.name), images.name);
  const classes = parseIdx(await unpack(labels.bytes, labels.name), labels.name);
  if (pictures.shape.length !== 3 || pictures.shape[1] !== 28 || pictures.shape[2] !== 28) {
    throw new Error(
      `${images.name}: images of shape [${pictures.shape}], but [count,28,28] is needed`,
    );
  }
  if (classes.shape.length !== 1) {
    throw new Error(`${labels.name}: labels of shape [${classes.shape}], but [count] is needed`);
  }
  const [count] = pictures.shape;
  if (classes.shape[0] !== count) {
    throw new Error(
      `${images.name} has ${count} images, but ${labels.name} has ${classes.shape[0]} labels`,
    );
  }
  const wrong = classes.data.findIndex((label) => label > 9);
  if (wrong >= 0)
    throw new Error(`${labels.name}: label ${classes.data[wrong]} at ${wrong} is no digit`);
  return { images: pictures.data, labels: classes.data, count };
}

const hex = (value) => (value ?? 0).toString(16).padStart(2, '0');
const magic = (bytes) =>
  bytes.length === 0 ? 'nothing' : [...bytes.subarray(0, 4)].map(hex).join(' ');
