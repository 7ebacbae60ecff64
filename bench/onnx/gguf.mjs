/** The llama of `tests/js/onnx/llama.mjs` as a GGUF file (ggml's docs/gguf.md), as llama.cpp reads it, in parts of a Blob. */
import { float16Bits } from '../../tests/js/onnx/llama.mjs';

const types = { uint32: 4, int32: 5, float32: 6, bool: 7, string: 8, array: 9 };
const forms = { 32: 0, 16: 1, 4: 2, 8: 8 };
const alignment = 32;
const block = 32;

/** Little-endian bytes that grow. */
class Writer {
  #parts = [];
  length = 0;

  bytes(values) {
    this.#parts.push(values);
    this.length += values.byteLength;
  }

  number(method, size, value) {
    const view = new DataView(new ArrayBuffer(size));
    view[method](0, value, true);
    this.bytes(new Uint8Array(view.buffer));
  }

  uint32 = (value) => this.number('setUint32', 4, value);
  int32 = (value) => this.number('setInt32', 4, value);
  uint64 = (value) => this.number('setBigUint64', 8, BigInt(value));
  bool = (value) => this.number('setUint8', 1, value);
  float32 = (value) => this.number('setFloat32', 4, value);

  string(text) {
    const bytes = new TextEncoder().encode(text);
    this.uint64(bytes.length);
    this.bytes(bytes);
  }

  pad() {
    this.bytes(new Uint8Array(-this.length & (alignment - 1)));
  }

  get parts() {
    return this.#parts;
  }
}

/** Blocks of 32 numbers, each with a scale that is a half: eight bits, or four, of which the low ones are those of the first half. */
function packed(values, bits) {
  const maxInteger = 2 ** (bits - 1) - 1;
  const blockBytes = 2 + (block * bits) / 8;
  const view = new DataView(new ArrayBuffer((values.length / block) * blockBytes));
  for (let at = 0, offset = 0; at < values.length; at += block, offset += blockBytes) {
    const numbers = values.subarray(at, at + block);
    const scale =
      numbers.reduce((found, each) => Math.max(found, Math.abs(each)), 0) / maxInteger || 1;
    view.setUint16(offset, float16Bits(scale), true);
    const digit = (k) => Math.round(numbers[k] / scale);
    for (let k = 0; k < (block * bits) / 8; k++) {
      const byte = bits === 8 ? digit(k) : (digit(k) + 8) | ((digit(k + 16) + 8) << 4);
      view.setUint8(offset + 2 + k, byte & 255);
    }
  }
  return new Uint8Array(view.buffer);
}

function stored(values, bits) {
  if (bits === 32) return new Uint8Array(values.buffer);
  if (bits === 16) return new Uint8Array(Uint16Array.from(values, float16Bits).buffer);
  return packed(values, bits);
}

/** Columns as rows. */
function transposed(values, [rows, columns]) {
  const result = new Float32Array(values.length);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      result[column * rows + row] = values[row * columns + column];
    }
  }
  return result;
}

/** Token strings: " 17" is number 17. A tokenizer finds each from left to right, as all it begins with are tokens too. */
const pieces = (count) => Array.from({ length: count }, (_, at) => `\u2581${at}`);

export const textOf = (tokens) => tokens.map((each) => ` ${each}`).join('');

export const tokensIn = (text) => text.trim().split(/\s+/).map(Number);

/** `weights` and sizes as of `llama`; products of so many bits, what the head is of too. */
export function gguf(config, weights, bits) {
  const { width, heads, groups, layers, hidden, vocabulary, positions } = config;
  const product = (to, from, shape) => ({ to, from, shape, bits, isTransposed: true });
  const norm = (to, from) => ({ to, from, shape: [width], bits: 32 });
  const keyWidth = (width * groups) / heads;
  const embedding = { from: 'embedding', shape: [vocabulary, width] };
  const tensors = [
    { to: 'token_embd.weight', ...embedding, bits: bits === 16 ? 16 : 32 },
    norm('output_norm.weight', 'norm'),
    ...(bits < 16 ? [{ to: 'output.weight', ...embedding, bits }] : []),
    ...Array.from({ length: layers }, (_, at) => [
      norm(`blk.${at}.attn_norm.weight`, `attention_norm.${at}`),
      norm(`blk.${at}.ffn_norm.weight`, `feed_norm.${at}`),
      product(`blk.${at}.attn_q.weight`, `q.${at}`, [width, width]),
      product(`blk.${at}.attn_k.weight`, `k.${at}`, [width, keyWidth]),
      product(`blk.${at}.attn_v.weight`, `v.${at}`, [width, keyWidth]),
      product(`blk.${at}.attn_output.weight`, `o.${at}`, [width, width]),
      product(`blk.${at}.ffn_gate.weight`, `gate.${at}`, [width, hidden]),
      product(`blk.${at}.ffn_up.weight`, `up.${at}`, [width, hidden]),
      product(`blk.${at}.ffn_down.weight`, `down.${at}`, [hidden, width]),
    ]).flat(),
  ];
  const metadata = {
    'general.architecture': 'llama',
    'general.alignment': ['uint32', alignment],
    'llama.context_length': ['uint32', positions],
    'llama.embedding_length': ['uint32', width],
    'llama.block_count': ['uint32', layers],
    'llama.feed_forward_length': ['uint32', hidden],
    'llama.attention.head_count': ['uint32', heads],
    'llama.attention.head_count_kv': ['uint32', groups],
    'llama.attention.layer_norm_rms_epsilon': ['float32', 1e-5],
    'llama.rope.dimension_count': ['uint32', width / heads],
    'llama.rope.freq_base': ['float32', 10000],
    'llama.vocab_size': ['uint32', vocabulary],
    'tokenizer.ggml.model': 'llama',
    'tokenizer.ggml.tokens': ['string', pieces(vocabulary)],
    'tokenizer.ggml.scores': ['float32', Array(vocabulary).fill(0)],
    'tokenizer.ggml.token_type': ['int32', Array(vocabulary).fill(1)],
    'tokenizer.ggml.add_bos_token': ['bool', 0],
    'tokenizer.ggml.add_space_prefix': ['bool', 0],
    'tokenizer.ggml.bos_token_id': ['uint32', 1],
    'tokenizer.ggml.eos_token_id': ['uint32', 2],
  };
  const data = new Writer();
  const file = new Writer();
  file.bytes(new TextEncoder().encode('GGUF'));
  file.uint32(3);
  file.uint64(tensors.length);
  file.uint64(Object.keys(metadata).length);
  for (const [name, entry] of Object.entries(metadata)) {
    file.string(name);
    const [type, value] = typeof entry === 'string' ? ['string', entry] : entry;
    if (Array.isArray(value)) {
      file.uint32(types.array);
      file.uint32(types[type]);
      file.uint64(value.length);
      for (const each of value) file[type](each);
    } else {
      file.uint32(types[type]);
      file[type](value);
    }
  }
  for (const { to, from, shape, bits: tensorBits, isTransposed } of tensors) {
    const values = weights(from, shape);
    file.string(to);
    file.uint32(shape.length);
    for (const each of isTransposed ? shape : shape.toReversed()) file.uint64(each);
    file.uint32(forms[tensorBits]);
    file.uint64(data.length);
    data.bytes(stored(isTransposed ? transposed(values, shape) : values, tensorBits));
    data.pad();
  }
  file.pad();
  return new Blob([...file.parts, ...data.parts]);
}
