// What `lathe run` has Node do: loads a model with the package, reads its inputs, writes and prints its outputs. The arguments
// are one JSON text, see lathe_run.cc.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

class Mistake extends Error {}

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
/** Text goes beside an output on standard output. */
const say = job.outputs.some(({ file }) => file === '-') ? console.error : console.log;

/** A package as it is found from the folders whose code may be executed; `what` wants it. */
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
  throw new Mistake(
    `${what} wants the npm package ${name}, which is not found from ${where}: run \`${how}, or say --package FOLDER`,
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
    throw new Mistake(`${file}: [${shape}] is no shape`);
  }
  if (bytes.length !== countOf(shape) * ArrayOf.BYTES_PER_ELEMENT) {
    throw new Mistake(
      `${file}: ${bytes.length} bytes are not the ${countOf(shape)} elements of ${dtype} [${shape}]`,
    );
  }
  return { dtype, shape, data: new ArrayOf(Uint8Array.from(bytes).buffer) };
}

/** An array as NumPy stores it (its format 1 to 3), row-major. */
function readNpy(bytes, file) {
  const wrong = (why) => new Mistake(`${file}: no array that can be read: ${why}`);
  if (bytes.length < 12 || bytes.toString('latin1', 1, 6) !== 'NUMPY') throw wrong('not .npy');
  const isLong = bytes[6] > 1;
  const start = isLong ? 12 : 10;
  const end = start + (isLong ? bytes.readUInt32LE(8) : bytes.readUInt16LE(8));
  if (end > bytes.length) throw wrong('it is truncated');
  const header = bytes.toString('latin1', start, end);
  const [, descr] = /'descr': *'([^']*)'/.exec(header) ?? [];
  const [, sizes] = /'shape': *\(([^)]*)\)/.exec(header) ?? [];
  const dtype = typeWith(1, descr);
  if (dtype === undefined) throw wrong(`its type ${descr} is not known`);
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
  const take = (count) => {
    if (count > bytes.length - at) throw new Mistake(`${file}: a TensorProto is truncated`);
    at += count;
    return bytes.subarray(at - count, at);
  };
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const [byte] = take(1);
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
      if (shift > 63n) throw new Mistake(`${file}: no TensorProto`);
    }
  };
  while (at < bytes.length) {
    const key = Number(varint());
    const kind = key & 7;
    if (kind === 0) yield [key >> 3, varint()];
    else if (kind === 2) yield [key >> 3, take(Number(varint()))];
    else if (kind === 1 || kind === 5) yield [key >> 3, take(kind === 1 ? 8 : 4)];
    else throw new Mistake(`${file}: no TensorProto`);
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
  if (dtype === undefined) throw new Mistake(`${file}: its element type ${number} is not known`);
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

/** The picture in a file: four bytes for each place. */
async function readPicture(file, bytes) {
  try {
    if (/\.png$/i.test(file)) {
      const { PNG } = (await load('pngjs', file)).default;
      return PNG.sync.read(bytes);
    }
    const { decode } = (await load('jpeg-js', file)).default;
    return decode(bytes, { useTArray: true });
  } catch (error) {
    if (error instanceof Mistake) throw error;
    throw new Mistake(`${file}: no picture that can be read: ${error.message}`);
  }
}

/** For each of `to` places the shares of `from`: a tent as wide as a new place, or as an old one where that is wider. */
function tents(from, to) {
  const scale = from / to;
  const width = Math.max(1, scale);
  return Array.from({ length: to }, (_, place) => {
    const middle = (place + 0.5) * scale;
    const first = Math.max(0, Math.ceil(middle - width - 0.5));
    const last = Math.min(from - 1, Math.floor(middle + width - 0.5));
    const shares = [];
    for (let k = first; k <= last; k++) shares.push(1 - Math.abs(k + 0.5 - middle) / width);
    const sum = shares.reduce((a, b) => a + b, 0);
    return { first, shares: shares.map((each) => each / sum) };
  });
}

/** The picture in another size, numbers 0…255: [height, width, 4]. */
function resized({ width, height, data }, newHeight, newWidth) {
  const across = tents(width, newWidth);
  const down = tents(height, newHeight);
  const rows = new Float32Array(height * newWidth * 4);
  for (let y = 0; y < height; y++) {
    across.forEach(({ first, shares }, x) => {
      for (const [k, share] of shares.entries()) {
        for (let c = 0; c < 4; c++) {
          rows[(y * newWidth + x) * 4 + c] += share * data[(y * width + first + k) * 4 + c];
        }
      }
    });
  }
  const result = new Float32Array(newHeight * newWidth * 4);
  down.forEach(({ first, shares }, y) => {
    for (const [k, share] of shares.entries()) {
      const from = (first + k) * newWidth * 4;
      for (let at = 0; at < newWidth * 4; at++) {
        result[y * newWidth * 4 + at] += share * rows[from + at];
      }
    }
  });
  return result;
}

/** Which axes of a picture's input are channels, height and width, and their sizes. */
function layoutOf(port, shape, file) {
  const isLast = (job.layout ?? ([1, 3].includes(shape.at(-1)) ? 'nhwc' : 'nchw')) === 'nhwc';
  const sizes = shape.slice(-3);
  const [channels, height, width] = isLast ? [sizes[2], sizes[0], sizes[1]] : sizes;
  const fits = (shape.length === 3 || (shape.length === 4 && shape[0] === 1)) && channels !== 2;
  if (!fits || channels > 4) {
    throw new Mistake(
      `${file}: input ${port.name} takes [${(port.shape ?? []).map((size) => size ?? '?')}], no picture of 1, 3 or 4 channels; --shape and --layout say others`,
    );
  }
  return { isLast, channels, height, width };
}

const imagenet = { mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225] };

function norms(channels) {
  const standard = channels === 3 ? imagenet : { mean: [0], std: [1] };
  return ['mean', 'std'].map((name) => {
    const given = job[name] ?? standard[name];
    if (given.length === 1) return Array(channels).fill(given[0]);
    if (given.length === channels) return given;
    throw new Mistake(`--${name} has ${given.length} numbers, the picture ${channels} channels`);
  });
}

function pictureInput(port, picture, file) {
  const side = 224;
  const open = (port.shape ?? [null, null, null, null]).map((size, axis, all) => {
    if (typeof size === 'number') return size;
    if (axis === 0 && all.length === 4) return 1;
    const isChannel = axis === all.length - (job.layout === 'nhwc' ? 1 : 3);
    return isChannel ? 3 : side;
  });
  const shape = job.shapes[port.name] ?? open;
  const { isLast, channels, height, width } = layoutOf(port, shape, file);
  const pixels = resized(picture, height, width);
  const isFloat = /^b?float/.test(port.dtype);
  const [mean, std] = isFloat ? norms(channels) : [];
  const data = new Float32Array(channels * height * width);
  for (let at = 0; at < height * width; at++) {
    for (let c = 0; c < channels; c++) {
      // One channel is the brightness (ITU-R BT.601).
      const value =
        channels === 1
          ? 0.299 * pixels[4 * at] + 0.587 * pixels[4 * at + 1] + 0.114 * pixels[4 * at + 2]
          : pixels[4 * at + c];
      const place = isLast ? at * channels + c : c * height * width + at;
      data[place] = isFloat ? (value / 255 - mean[c]) / std[c] : Math.round(value);
    }
  }
  return { dtype: 'float32', shape, data };
}

const isPicture = (file) => /\.(jpe?g|png)$/i.test(file);

/** The content of a file, or of standard input. */
function contentOf(file, ...settings) {
  try {
    return readFileSync(file === '-' ? 0 : file, ...settings);
  } catch (error) {
    throw new Mistake(`${file}: ${error.message}`);
  }
}

/** What an input is given by a file. */
async function inputOf(tl, port, file) {
  const bytes = contentOf(file);
  let value;
  if (/\.npy$/i.test(file)) value = readNpy(bytes, file);
  else if (/\.pb$/i.test(file)) value = readTensor(bytes, file);
  else if (isPicture(file)) {
    value = pictureInput(port, await readPicture(file, bytes), file);
  } else value = elementsAlone(port, bytes, file);
  if (types[value.dtype][0] === Uint16Array && value.dtype !== port.dtype) {
    throw new Mistake(`${file}: is ${value.dtype}, input ${port.name} takes ${port.dtype}`);
  }
  const said = job.shapes[port.name];
  if (said !== undefined && `${said}` !== `${value.shape}`) {
    throw new Mistake(
      `${file}: has the shape [${value.shape}], --shape ${port.name} says [${said}]`,
    );
  }
  return tl.tensor(value.data, value.shape, value.dtype);
}

function elementsAlone(port, bytes, file) {
  if (types[port.dtype] === undefined) {
    throw new Mistake(`${file}: input ${port.name} of ${port.dtype || 'no type'} takes no file`);
  }
  let shape = job.shapes[port.name];
  if (shape === undefined) {
    shape = (port.shape ?? [null]).map((size) => (typeof size === 'number' ? size : -1));
    if (shape.filter((size) => size < 0).length > 1) {
      throw new Mistake(
        `${file}: several sizes of input ${port.name} are open; say --shape ${port.name}=…`,
      );
    }
    const known = shape.reduce((product, size) => (size < 0 ? product : product * size), 1);
    const count = bytes.length / types[port.dtype][0].BYTES_PER_ELEMENT;
    shape = shape.map((size) => (size < 0 ? Math.floor(count / known) : size));
  }
  return elements(port.dtype, shape, bytes, file);
}

/** The input of this name that a flag tells of. */
function portOf(model, flag, name) {
  const port = model.inputs.find((each) => each.name === name);
  if (port !== undefined) return port;
  const names = model.inputs.map((each) => each.name).join(', ');
  throw new Mistake(`${flag}: there is no input ${name}; known: ${names}`);
}

/** What flags say must be of use. */
function checkFlags(model) {
  for (const name of Object.keys(job.shapes)) portOf(model, '--shape', name);
  const files = job.inputs.map(({ file }) => file);
  const idle = ['mean', 'std', 'layout'].find((flag) => job[flag] !== undefined);
  if (idle !== undefined && !files.some(isPicture)) {
    throw new Mistake(`--${idle} is for pictures, and no input is given one`);
  }
  if ([job.model, ...files].filter((file) => file === '-').length > 1) {
    throw new Mistake('standard input is one file, and more are to be read from it');
  }
}

/** The inputs by name: those of --input, of which one may have no name. */
async function readInputs(tl, model) {
  const inputs = Object.create(null);
  for (const { name, file } of job.inputs) {
    if (name === '' && model.inputs.length !== 1) {
      const names = model.inputs.map((each) => each.name).join(', ');
      throw new Mistake(`--input ${file}: say which one, NAME=${file}; inputs: ${names}`);
    }
    const port = name === '' ? model.inputs[0] : portOf(model, '--input', name);
    inputs[port.name] = await inputOf(tl, port, file);
  }
  return inputs;
}

const isTensor = (value) => ArrayBuffer.isView(value?.dataSync?.());
const short = (number) =>
  typeof number === 'bigint' ? `${number}` : `${Number(number.toPrecision(6))}`;

function printOutput(name, value) {
  if (!isTensor(value)) {
    say(`${name}  ${JSON.stringify(value)}`);
    return;
  }
  const data = value.dataSync();
  const some = Array.from(data.subarray(0, 8), short).join(' ');
  const more = data.length > 8 ? ' …' : '';
  say(`${name}  ${value.dtype} [${value.shape.join(',')}]  ${some}${more}`);
}

/** The lines of the labels, one for each number of a row. */
function labelsFor(name, shape, size) {
  const lines = contentOf(job.labels, 'utf8').trimEnd().split(/\r?\n/);
  if (lines.length === size) return lines;
  throw new Mistake(
    `${job.labels}: has ${lines.length} line${lines.length === 1 ? '' : 's'}, and ${name} [${shape}] has ${size} numbers${shape.length > 1 ? ' in a row' : ''}`,
  );
}

function printTop(name, value) {
  if (!isTensor(value)) throw new Mistake(`--top: output ${name} is no tensor`);
  const data = Array.from(value.dataSync(), Number);
  // With two axes or more the first one counts rows, each of an example.
  const rows = value.shape.length > 1 ? value.shape[0] : 1;
  const size = data.length / rows;
  const labels = job.labels === undefined ? undefined : labelsFor(name, value.shape, size);
  for (let row = 0; row < rows; row++) {
    if (rows > 1) say(`row ${row}`);
    const numbers = data.slice(row * size, (row + 1) * size);
    const order = [...numbers.keys()].sort((a, b) => numbers[b] - numbers[a] || a - b);
    for (const at of order.slice(0, job.top)) {
      const label = labels === undefined ? '' : `  ${labels[at]}`;
      say(`${short(numbers[at]).padStart(12)}  ${at}${label}`);
    }
  }
}

function writeOutputs(results) {
  for (const { name, file } of job.outputs) {
    const key = name === '' ? Object.keys(results)[0] : name;
    const value = Object.hasOwn(results, key) ? results[key] : undefined;
    if (value === undefined) {
      const names = Object.keys(results).join(', ');
      throw new Mistake(`--output: there is no output ${key}; known: ${names}`);
    }
    if (!isTensor(value)) throw new Mistake(`--output: ${key} is no tensor of numbers`);
    const array = { dtype: value.dtype, shape: value.shape, data: value.dataSync() };
    const isNpy = /\.npy$/i.test(file);
    if (isNpy && types[array.dtype] === undefined) {
      throw new Mistake(`--output: .npy has no ${array.dtype}; without the ending the bytes go`);
    }
    try {
      writeFileSync(file === '-' ? 1 : file, isNpy ? npyOf(array) : bytesOf(array.data));
    } catch (error) {
      throw new Mistake(`${file}: ${error.message}`);
    }
    say(`${file}: ${key} ${array.dtype} [${array.shape.join(',')}]`);
  }
}

/** The model of a file with what lies beside it, or of standard input. Error: names it. */
async function opened(tl) {
  try {
    return await tl.loadModel(job.model === '-' ? contentOf('-') : job.model);
  } catch (error) {
    if (error.name !== 'LatheError') throw error;
    const name = job.model === '-' ? 'standard input' : job.model;
    throw new Mistake(error.message.startsWith(name) ? error.message : `${name}: ${error.message}`);
  }
}

async function main() {
  if (job.model !== '-' && !existsSync(job.model)) {
    throw new Mistake(`${job.model}: there is no such file`);
  }
  const tl = await load('tensorlathe', 'lathe run');
  if (tl.loadModel === undefined) {
    throw new Mistake(`the package tensorlathe found from ${where} is older and reads no ONNX`);
  }
  const model = await opened(tl);
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
  const isOurs = error instanceof Mistake || error.name === 'LatheError';
  const lines = isOurs ? [error.message] : error.stack.split('\n');
  for (const [at, line] of lines.entries())
    console.error(`${at === 0 ? 'lathe: ' : '    '}${line}`);
  process.exitCode = 1;
}
