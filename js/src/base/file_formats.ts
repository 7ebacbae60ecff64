/** Formats of files by their first bytes and by their names, for errors of functions that read others. Loaded with the first error. */
import { TextDecoder } from './text.js';

interface Format {
  /** The format, as a noun. */
  name: string;
  /** Its first bytes as UTF-8, in which U+FFFD stands for each invalid byte. */
  begins?: RegExp;
  /** Endings of its names. */
  endings?: RegExp;
  /** What reads it, or what to do. */
  fix?: string;
}

const graphModels = 'loadGraphModel of tensorlathe/tfjs reads graph models';
const keras = "tl.loadModel reads '.keras' and '.h5' files once tensorlathe/keras is imported";
const images = 'tl.image.toTensor makes an input of an image';

/** The first that fits counts. */
const formats: Format[] = [
  { name: 'a JPEG image', begins: /^\ufffd{3}/, fix: images },
  { name: 'a PNG image', begins: /^\ufffdPNG/, fix: images },
  { name: 'a GIF image', begins: /^GIF8/, fix: images },
  { name: 'a WebP image', begins: /^RIFF.{1,4}WEBP/s, fix: images },
  { name: 'a WAV sound', begins: /^RIFF.{1,4}WAVE/s },
  {
    name: 'a file of PyTorch',
    begins: /^(PK\x03\x04.*\.pkl|\ufffd[\x02-\x05])/s,
    endings: /\.(pth?|ckpt)$/i,
    fix: 'torch.onnx.export writes an ONNX model of it',
  },
  { name: 'a ZIP archive', begins: /^PK\x03\x04/, fix: keras },
  { name: 'a gzip archive', begins: /^\x1f\ufffd/, fix: 'unpack it first' },
  { name: 'an HDF5 file', begins: /^\ufffdHDF/, fix: keras },
  {
    name: 'a TensorFlow Lite model',
    begins: /^.{1,4}TFL3/s,
    endings: /\.tflite$/i,
    fix: 'models of TensorFlow Lite must be converted to ONNX, as tf2onnx does, which tl.loadModel reads',
  },
  {
    name: 'a safetensors file',
    begins: /^[^{]{1,4}\0{4,6}\{\s*"/s,
    endings: /\.safetensors$/i,
    fix: 'it contains weights only, which model.loadWeights reads',
  },
  { name: 'a GGUF file', begins: /^GGUF/, endings: /\.gguf$/i, fix: 'only ONNX models are read' },
  { name: 'a WebAssembly module', begins: /^\0asm/ },
  {
    name: 'a pointer of Git LFS',
    begins: /^version https:\/\/git-lfs/,
    fix: 'get the file itself by `git lfs pull`, or download it',
  },
  { name: 'an HTML or XML page', begins: /^\ufeff?\s*</, fix: 'check the address' },
  { name: 'a graph model', begins: /^\s*\{.*"graph-model"/s, fix: graphModels },
  {
    name: 'a model of layers',
    begins: /^\s*\{.*"(layers-model|modelTopology)"/s,
    endings: /model\.json$/i,
    fix: 'tl.loadLayersModel reads models of layers',
  },
  { name: 'JSON', begins: /^\s*\{/ },
  {
    name: 'a saved model of TensorFlow',
    begins: /^\x08\x01\x12/,
    endings: /\.pb$/i,
    fix: 'saved models of TensorFlow must be converted, by tensorflowjs_converter for loadGraphModel or by tf2onnx for tl.loadModel',
  },
  {
    name: 'an ONNX model',
    begins: /^\x08[\x02-\x20][\x12\x1a\x22\x28\x32\x3a\x42]/,
    endings: /\.onnx$/i,
    fix: 'tl.loadModel reads ONNX models',
  },
];

/** What a file is that begins so, '' if that is unknown or the `expected` format. */
export function describeFormat(bytes: Uint8Array | string, expected = ''): string {
  const text =
    typeof bytes === 'string' ? bytes : new TextDecoder().decode(bytes.subarray(0, 2 ** 16));
  if (text === '') return 'it is empty';
  const found = formats.find(({ begins }) => begins?.test(text));
  if (found === undefined || found.name === expected) return '';
  return `it begins like ${found.name}${found.fix === undefined ? '' : `; ${found.fix}`}`;
}

/** What reads files with such a name, '' if that is unknown. */
export function readerOf(name: string): string {
  const path = name.replace(/[?#].*$/, '');
  return formats.find(({ endings }) => endings?.test(path))?.fix ?? '';
}
