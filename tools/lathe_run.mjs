// The Node program of `lathe run`: loads a model with the package, reads its inputs, writes and prints its outputs. The arguments
// are one JSON text, see lathe_run.cc.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

class UsageError extends Error {}

/** Errors of the package, whose message is enough. */
const isOurs = ({ name }) => /^(Lathe|OutOfMemory)Error$/.test(name);

const job = JSON.parse(process.argv[1]);
// Names are anyone's: constructor is no member of it.
job.shapes = Object.assign(Object.create(null), job.shapes);
const bases = job.packages.map((folder) => resolve(folder));
const where = bases.join(' or ') || 'the folder of this program';

/** Characters that control the terminal, hide or begin a line, escaped: lathe_print.cc has the same rule. */
const hidden =
  /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\u{fff0}-\u{fff8}]/gu;
const named = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };
const printable = (text) =>
  String(text).replace(hidden, (each) => {
    const code = each.codePointAt(0).toString(16);
    return (
      named[each] ??
      (code.length < 3 && code < '80' ? `\\x${code.padStart(2, '0')}` : `\\u{${code}}`)
    );
  });
// The package prints, too.
const { log, error: logError } = console;
for (const name of ['log', 'info', 'debug'])
  console[name] = (...all) => log(printable(all.join(' ')));
for (const name of ['warn', 'error'])
  console[name] = (...all) => logError(printable(all.join(' ')));
/** Text goes to standard error if an output goes to standard output. */
const print = job.outputs.some(({ file }) => file === '-') ? console.error : console.log;

/** Imports a package, resolved from the folders whose code may be executed; `what` requires it. */
async function load(name, what) {
  for (const base of bases) {
    let file;
    try {
      file = createRequire(`${base}/any.js`).resolve(name);
    } catch {
      continue;
    }
    return import(pathToFileURL(file).href);
  }
  const how = bases.length === 1 ? `npm install ${name}\` there` : `npm install -g ${name}\``;
  throw new UsageError(
    `${what} requires the npm package ${name}, which is not found from ${where}: run \`${how}, or use --package FOLDER`,
  );
}

/** Element types: the array, how .npy calls them, how TensorProto numbers them, and its field of elements. */
const types = {
  __proto__: null,
  float32: [Float32Array, '<f4', 1, 4],
  uint8: [Uint8Array, '|u1', 2, 5],
  int8: [Int8Array, '|i1', 3, 5],
  uint16: [Uint16Array, '<u2', 4, 5],
  int16: [Int16Array, '<i2', 5, 5],
  int32: [Int32Array, '<i4', 6, 5],
  int64: [BigInt64Array, '<i8', 7, 7],
  bool: [Uint8Array, '|b1', 9, 5],
  float16: [Uint16Array, '<f2', 10, 5],
  float64: [Float64Array, '<f8', 11, 10],
  uint32: [Uint32Array, '<u4', 12, 11],
  uint64: [BigUint64Array, '<u8', 13, 11],
};
const countOf = (shape) => shape.reduce((product, size) => product * size, 1);
const typeWith = (column, value) =>
  Object.keys(types).find((each) => types[each][column] === value);

/** Bytes as elements. Error: they do not fill the shape. */
function elements(dtype, shape, bytes, file) {
  const [ArrayOf] = types[dtype];
  if (!shape.every((size) => Number.isSafeInteger(size) && size >= 0)) {
    throw new UsageError(`${file}: [${shape}] is no shape`);
  }
  if (bytes.length !== countOf(shape) * ArrayOf.BYTES_PER_ELEMENT) {
    throw new UsageError(
      `${file}: ${bytes.length} bytes are not the ${countOf(shape)} elements of ${dtype} [${shape}]`,
    );
  }
  return { dtype, shape, data: new ArrayOf(Uint8Array.from(bytes).buffer) };
}

/** An array as NumPy stores it (its format 1 to 3), row-major. */
function readNpy(bytes, file) {
  const wrong = (why) => new UsageError(`${file}: no readable array: ${why}`);
  if (bytes.length < 12 || bytes.toString('latin1', 1, 6) !== 'NUMPY') throw wrong('not .npy');
  const isLong = bytes[6] > 1;
  const start = isLong ? 12 : 10;
  const end = start + (isLong ? bytes.readUInt32LE(8) : bytes.readUInt16LE(8));
  if (end > bytes.length) throw wrong('it is truncated');
  const header = bytes.toString('latin1', start, end);
  const [, descr] = /'descr': *'([^']*)'/.exec(header) ?? [];
  const [, sizes] = /'shape': *\(([^)]*)\)/.exec(header) ?? [];
  const dtype = typeWith(1, descr);
  if (dtype === undefined) throw wrong(`its type ${descr} is not supported`);
  if (sizes === undefined || /'fortran_order': *True/.test(header)) throw wrong('not row-major');
  const shape = sizes.split(',').filter((each) => each.trim() !== '');
  return elements(dtype, shape.map(Number), bytes.subarray(end), file);
}

function npyOf({ dtype, shape, data }) {
  const sizes = shape.length === 1 ? `${shape[0]},` : shape.join(', ');
  const header = `{'descr': '${types[dtype][1]}', 'fortran_order': False, 'shape': (${sizes}), }`;
  const padded = header.padEnd(Math.ceil((header.length + 11) / 64) * 64 - 11) + '\n';
  const head = Buffer.from(`\x93NUMPY\x01\x00\x00\x00${padded}`, 'latin1');
  head.writeUInt16LE(padded.length, 8);
  return Buffer.concat([head, bytesOf(data)]);
}

const bytesOf = (data) => Buffer.from(data.buffer, data.byteOffset, data.byteLength);

/** The fields of a message of protobuf: [number, value], numbers as BigInt, others as bytes. */
function* fieldsOf(bytes, file) {
  let at = 0;
  const consume = (count) => {
    if (count > bytes.length - at) throw new UsageError(`${file}: a TensorProto is truncated`);
    at += count;
    return bytes.subarray(at - count, at);
  };
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const [byte] = consume(1);
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
      if (shift > 63n) throw new UsageError(`${file}: no TensorProto`);
    }
  };
  while (at < bytes.length) {
    const key = Number(varint());
    const kind = key & 7;
    if (kind === 0) yield [key >> 3, varint()];
    else if (kind === 2) yield [key >> 3, consume(Number(varint()))];
    else if (kind === 1 || kind === 5) yield [key >> 3, consume(kind === 1 ? 8 : 4)];
    else throw new UsageError(`${file}: no TensorProto`);
  }
}

function* varintsOf(bytes, file) {
  for (let at = 0; at < bytes.length;) {
    let end = at;
    while (end < bytes.length && bytes[end] > 127) end++;
    const [[, value]] = fieldsOf(Buffer.concat([Buffer.of(0), bytes.subarray(at, end + 1)]), file);
    yield value;
    at = end + 1;
  }
}

/** A TensorProto (onnx.proto), as ONNX's tests store data. */
function readTensor(bytes, file) {
  const shape = [];
  const listed = [];
  let number = 0;
  let raw;
  const isFloat = () => number === 1 || number === 11;
  for (const [field, value] of fieldsOf(bytes, file)) {
    if (field === 1) {
      shape.push(...(typeof value === 'bigint' ? [value] : varintsOf(value, file)).map(Number));
    }
    if (field === 2) number = Number(value);
    if (field === 9) raw = value;
    if ([4, 5, 7, 10, 11].includes(field)) listed.push(value);
  }
  const dtype = typeWith(2, number);
  if (dtype === undefined)
    throw new UsageError(`${file}: its element type ${number} is not supported`);
  if (raw === undefined && isFloat()) raw = Buffer.concat(listed);
  if (raw !== undefined) return elements(dtype, shape, raw, file);
  const [ArrayOf] = types[dtype];
  const isBig = dtype === 'int64' || dtype === 'uint64';
  const values = listed.flatMap((each) =>
    typeof each === 'bigint' ? [each] : [...varintsOf(each, file)],
  );
  const data = ArrayOf.from(isBig ? values : values.map((each) => Number(BigInt.asIntN(64, each))));
  return elements(dtype, shape, bytesOf(data), file);
}

/** The decoded image of a file: RGBA bytes. */
async function readImage(file, bytes) {
  try {
    if (/\.png$/i.test(file)) {
      const { PNG } = (await load('pngjs', file)).default;
      return PNG.sync.read(bytes);
    }
    const { decode } = (await load('jpeg-js', file)).default;
    return decode(bytes, { useTArray: true });
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${file}: no readable image: ${error.message}`);
  }
}

/** Which axes of an image input are channels, height and width, and their sizes. */
function layoutOf(port, shape, file) {
  const isLast = (job.layout ?? ([1, 3].includes(shape.at(-1)) ? 'nhwc' : 'nchw')) === 'nhwc';
  const sizes = shape.slice(-3);
  const [channels, height, width] = isLast ? [sizes[2], sizes[0], sizes[1]] : sizes;
  const isImageShape =
    (shape.length === 3 || (shape.length === 4 && shape[0] === 1)) && channels !== 2;
  if (!isImageShape || channels > 4) {
    throw new UsageError(
      `${file}: input ${port.name} has the shape [${(port.shape ?? []).map((size) => size ?? '?')}], no image of 1, 3 or 4 channels; --shape and --layout set others`,
    );
  }
  return { isLast, channels, height, width };
}

const imagenet = { mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225] };

function norms(channels) {
  const standard = channels === 3 ? imagenet : { mean: [0], std: [1] };
  return ['mean', 'std'].map((name) => {
    const factors = job[name] ?? standard[name];
    if (factors.length === 1) return Array(channels).fill(factors[0]);
    if (factors.length === channels) return factors;
    throw new UsageError(`--${name} has ${factors.length} numbers, the image ${channels} channels`);
  });
}

async function imageInput(tl, port, image, file) {
  const side = 224;
  const open = (port.shape ?? [null, null, null, null]).map((size, axis, all) => {
    if (typeof size === 'number') return size;
    if (axis === 0 && all.length === 4) return 1;
    const isChannel = axis === all.length - (job.layout === 'nhwc' ? 1 : 3);
    return isChannel ? 3 : side;
  });
  const shape = job.shapes[port.name] ?? open;
  const { isLast, channels, height, width } = layoutOf(port, shape, file);
  const isFloat = /^b?float/.test(port.dtype);
  const [mean, std] = isFloat ? norms(channels) : [0, 1 / 255];
  const layout = isLast ? 'nhwc' : 'nchw';
  const size = [height, width];
  const value = await tl.image.toTensor(image, { size, mean, std, layout, channels });
  const data = value.dataSync();
  return { dtype: 'float32', shape, data: isFloat ? data : data.map(Math.round) };
}

const isImage = (file) => /\.(jpe?g|png)$/i.test(file);

/** The content of a file, or of standard input. */
function contentOf(file, ...settings) {
  try {
    return readFileSync(file === '-' ? 0 : file, ...settings);
  } catch (error) {
    throw new UsageError(`${file}: ${error.message}`);
  }
}

/** The value of an input from a file. */
async function inputOf(tl, port, file) {
  const bytes = contentOf(file);
  let value;
  if (/\.npy$/i.test(file)) value = readNpy(bytes, file);
  else if (/\.pb$/i.test(file)) value = readTensor(bytes, file);
  else if (isImage(file)) {
    value = await imageInput(tl, port, await readImage(file, bytes), file);
  } else value = rawElements(port, bytes, file);
  if (types[value.dtype][0] === Uint16Array && value.dtype !== port.dtype) {
    throw new UsageError(`${file}: is ${value.dtype}, input ${port.name} is ${port.dtype}`);
  }
  const expectedShape = job.shapes[port.name];
  if (expectedShape !== undefined && `${expectedShape}` !== `${value.shape}`) {
    throw new UsageError(
      `${file}: has the shape [${value.shape}], --shape ${port.name} is [${expectedShape}]`,
    );
  }
  return tl.tensor(value.data, value.shape, value.dtype);
}

function rawElements(port, bytes, file) {
  if (types[port.dtype] === undefined) {
    throw new UsageError(
      `${file}: input ${port.name} of ${port.dtype || 'no type'} cannot be read from a file`,
    );
  }
  let shape = job.shapes[port.name];
  if (shape === undefined) {
    shape = (port.shape ?? [null]).map((size) => (typeof size === 'number' ? size : -1));
    if (shape.filter((size) => size < 0).length > 1) {
      throw new UsageError(
        `${file}: several sizes of input ${port.name} are open; use --shape ${port.name}=…`,
      );
    }
    const fixedCount = shape.reduce((product, size) => (size < 0 ? product : product * size), 1);
    const count = bytes.length / types[port.dtype][0].BYTES_PER_ELEMENT;
    shape = shape.map((size) => (size < 0 ? Math.floor(count / fixedCount) : size));
  }
  return elements(port.dtype, shape, bytes, file);
}

/** The input of this name. Error: names the flag. */
function portOf(model, flag, name) {
  const port = model.inputs.find((each) => each.name === name);
  if (port !== undefined) return port;
  const names = model.inputs.map((each) => each.name).join(', ');
  throw new UsageError(`${flag}: there is no input ${name}; known: ${names}`);
}

/** Rejects flags without effect. */
function checkFlags(model) {
  for (const name of Object.keys(job.shapes)) portOf(model, '--shape', name);
  const files = job.inputs.map(({ file }) => file);
  const idle = ['mean', 'std', 'layout'].find((flag) => job[flag] !== undefined);
  if (idle !== undefined && !files.some(isImage)) {
    throw new UsageError(`--${idle} is for images, and no input is an image`);
  }
  if ([job.model, ...files].filter((file) => file === '-').length > 1) {
    throw new UsageError('standard input is one file, and more are to be read from it');
  }
}

/** The inputs by name: those of --input, of which one may have no name. */
async function readInputs(tl, model) {
  const inputs = Object.create(null);
  for (const { name, file } of job.inputs) {
    if (name === '' && model.inputs.length !== 1) {
      const names = model.inputs.map((each) => each.name).join(', ');
      throw new UsageError(`--input ${file}: specify which one, NAME=${file}; inputs: ${names}`);
    }
    const port = name === '' ? model.inputs[0] : portOf(model, '--input', name);
    inputs[port.name] = await inputOf(tl, port, file);
  }
  // Ports without a dtype are no tensors, and may be optional.
  const missing = model.inputs.filter(({ name, dtype }) => dtype !== '' && !(name in inputs));
  if (missing.length > 0) {
    const all = missing.map(({ name, dtype, shape }) => {
      const sizes = shape?.map((size) => size ?? '?').join(',') ?? '…';
      return `input ${name} is missing, ${dtype} [${sizes}]`;
    });
    throw new UsageError(
      `${all.join('; ')}: --input ${missing[0].name}=FILE reads it from an image, .npy, .pb or raw elements`,
    );
  }
  return inputs;
}

const isTensor = (value) => ArrayBuffer.isView(value?.dataSync?.());
const short = (number) =>
  typeof number === 'bigint' ? `${number}` : `${Number(number.toPrecision(6))}`;

function printOutput(name, value) {
  if (!isTensor(value)) {
    print(`${name}  ${JSON.stringify(value)}`);
    return;
  }
  const data = value.dataSync();
  const some = Array.from(data.subarray(0, 8), short).join(' ');
  const more = data.length > 8 ? ' …' : '';
  print(`${name}  ${value.dtype} [${value.shape.join(',')}]  ${some}${more}`);
}

/** The lines of the labels, one for each number of a row. */
function labelsFor(name, shape, size) {
  const lines = contentOf(job.labels, 'utf8').trimEnd().split(/\r?\n/);
  if (lines.length === size) return lines;
  throw new UsageError(
    `${job.labels}: has ${lines.length} line${lines.length === 1 ? '' : 's'}, and ${name} [${shape}] has ${size} numbers${shape.length > 1 ? ' in a row' : ''}`,
  );
}

function printTop(name, value) {
  if (!isTensor(value)) throw new UsageError(`--top: output ${name} is no tensor`);
  const data = Array.from(value.dataSync(), Number);
  // With two axes or more the first one counts rows, each of an example.
  const rows = value.shape.length > 1 ? value.shape[0] : 1;
  const size = data.length / rows;
  const labels = job.labels === undefined ? undefined : labelsFor(name, value.shape, size);
  for (let row = 0; row < rows; row++) {
    if (rows > 1) print(`row ${row}`);
    const numbers = data.slice(row * size, (row + 1) * size);
    const order = [...numbers.keys()].sort((a, b) => numbers[b] - numbers[a] || a - b);
    for (const at of order.slice(0, job.top)) {
      const label = labels === undefined ? '' : `  ${labels[at]}`;
      print(`${short(numbers[at]).padStart(12)}  ${at}${label}`);
    }
  }
}

function writeOutputs(results) {
  for (const { name, file } of job.outputs) {
    const key = name === '' ? Object.keys(results)[0] : name;
    const value = Object.hasOwn(results, key) ? results[key] : undefined;
    if (value === undefined) {
      const names = Object.keys(results).join(', ');
      throw new UsageError(`--output: there is no output ${key}; known: ${names}`);
    }
    if (!isTensor(value)) throw new UsageError(`--output: ${key} is no tensor of numbers`);
    const array = { dtype: value.dtype, shape: value.shape, data: value.dataSync() };
    const isNpy = /\.npy$/i.test(file);
    if (isNpy && types[array.dtype] === undefined) {
      throw new UsageError(
        `--output: .npy has no ${array.dtype}; without this extension raw bytes are stored`,
      );
    }
    try {
      writeFileSync(file === '-' ? 1 : file, isNpy ? npyOf(array) : bytesOf(array.data));
    } catch (error) {
      throw new UsageError(`${file}: ${error.message}`);
    }
    print(`${file}: ${key} ${array.dtype} [${array.shape.join(',')}]`);
  }
}

/** The model of a file and the files next to it, or of standard input. Error: names it. */
async function loadedModel(tl) {
  try {
    return await tl.loadModel(job.model === '-' ? contentOf('-') : job.model);
  } catch (error) {
    if (!isOurs(error)) throw error;
    const name = job.model === '-' ? 'standard input' : job.model;
    throw new UsageError(
      error.message.startsWith(name) ? error.message : `${name}: ${error.message}`,
    );
  }
}

async function main() {
  if (job.model !== '-' && !existsSync(job.model)) {
    throw new UsageError(`${job.model}: there is no such file`);
  }
  const tl = await load('tensorlathe', 'lathe run');
  if (tl.loadModel === undefined) {
    throw new UsageError(`the package tensorlathe found from ${where} is older and reads no ONNX`);
  }
  if (tl.image === undefined && job.inputs.some(({ file }) => isImage(file))) {
    throw new UsageError(
      `the package tensorlathe found from ${where} is older and reads no images`,
    );
  }
  const model = await loadedModel(tl);
  checkFlags(model);
  const results = await model.run(await readInputs(tl, model));
  writeOutputs(results);
  const [first] = Object.keys(results);
  if (job.top !== undefined) printTop(first, results[first]);
  else if (job.outputs.length === 0) {
    for (const [name, value] of Object.entries(results)) printOutput(name, value);
  }
  model.dispose();
}

try {
  await main();
} catch (error) {
  const isKnown = error instanceof UsageError || isOurs(error);
  const lines = isKnown ? [error.message] : error.stack.split('\n');
  for (const [at, line] of lines.entries())
    console.error(`${at === 0 ? 'lathe: ' : '    '}${line}`);
  process.exitCode = 1;
}
