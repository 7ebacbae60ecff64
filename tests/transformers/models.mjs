// Writes folders as Hugging Face has them: config, tokenizer and the networks of networks.mjs. All is made here.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as networks from './networks.mjs';

const words = `the a an of to and in is it on for with as was at by this that from are be or not we you they he she one two
model page tensor graph small random cat dog house river green blue red runs reads writes sees big in##side ##s ##ing ##er ##ed`;

const special = (id, content) => ({
  id,
  content,
  special: true,
  single_word: false,
  lstrip: false,
  rstrip: false,
  normalized: false,
});

const numbered = (tokens) => Object.fromEntries(tokens.map((token, at) => [token, at]));

/** WordPiece with the special tokens of BERT; unknown words are split into letters. */
function wordPieces() {
  const letters = [...'abcdefghijklmnopqrstuvwxyz.,!?'];
  const marks = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]'];
  const pieces = new Set([
    ...marks,
    ...words.split(/\s+/),
    ...letters,
    ...letters.map((each) => `##${each}`),
  ]);
  const vocab = numbered([...pieces]);
  const one = (id, type_id = 0) => ({ SpecialToken: { id, type_id } });
  const sequence = (id, type_id) => ({ Sequence: { id, type_id } });
  const token = (id) => [id, { id, ids: [vocab[id]], tokens: [id] }];
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: marks.map((mark) => special(vocab[mark], mark)),
    normalizer: {
      type: 'BertNormalizer',
      clean_text: true,
      handle_chinese_chars: true,
      strip_accents: null,
      lowercase: true,
    },
    pre_tokenizer: { type: 'BertPreTokenizer' },
    post_processor: {
      type: 'TemplateProcessing',
      single: [one('[CLS]'), sequence('A', 0), one('[SEP]')],
      pair: [one('[CLS]'), sequence('A', 0), one('[SEP]'), sequence('B', 1), one('[SEP]', 1)],
      special_tokens: Object.fromEntries([token('[CLS]'), token('[SEP]')]),
    },
    decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
    model: {
      type: 'WordPiece',
      unk_token: '[UNK]',
      continuing_subword_prefix: '##',
      max_input_chars_per_word: 100,
      vocab,
    },
  };
}

/** Pairs of bytes, with special tokens before or after. */
function bytePairs(before, after = []) {
  const letters = [...'ĠabcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,!?-\'"'];
  const merges = ['Ġ t', 'h e', 'i n', 'Ġt he', 'Ġ a', 'e r', 'a n', 'o n', 'i s'];
  const pairs = merges.map((each) => each.replace(' ', ''));
  const vocab = numbered([...before, ...letters, ...pairs, ...after]);
  const byteLevel = {
    type: 'ByteLevel',
    add_prefix_space: false,
    trim_offsets: true,
    use_regex: true,
  };
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: [...before, ...after].map((each) => special(vocab[each], each)),
    normalizer: null,
    pre_tokenizer: byteLevel,
    post_processor: byteLevel,
    decoder: byteLevel,
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: '',
      end_of_word_suffix: '',
      fuse_unk: false,
      byte_fallback: false,
      vocab,
      merges,
    },
  };
}

const sizeOf = (tokenizer) => Object.keys(tokenizer.model.vocab).length;

const labels = (names) => ({
  id2label: { ...names },
  label2id: numbered(names),
});

function bertFolder(head, architecture, names = []) {
  const { width, heads, layers, hidden, positions } = networks.bert;
  const tokenizer = wordPieces();
  return {
    'config.json': {
      model_type: 'bert',
      architectures: [architecture],
      vocab_size: sizeOf(tokenizer),
      hidden_size: width,
      num_attention_heads: heads,
      num_hidden_layers: layers,
      intermediate_size: hidden,
      max_position_embeddings: positions,
      ...labels(names),
    },
    'tokenizer.json': tokenizer,
    'tokenizer_config.json': {
      tokenizer_class: 'BertTokenizer',
      model_max_length: positions,
      pad_token: '[PAD]',
      unk_token: '[UNK]',
      cls_token: '[CLS]',
      sep_token: '[SEP]',
      mask_token: '[MASK]',
    },
    'onnx/model.onnx': networks.bertModel(sizeOf(tokenizer), head),
  };
}

function llamaFolder(write) {
  const { width, heads, groups, layers, hidden } = networks.llama;
  const tokenizer = bytePairs(['<s>', '</s>']);
  const ids = { bos_token_id: 0, eos_token_id: 1, pad_token_id: 1 };
  return {
    'config.json': {
      model_type: 'llama',
      architectures: ['LlamaForCausalLM'],
      vocab_size: sizeOf(tokenizer),
      hidden_size: width,
      num_attention_heads: heads,
      num_key_value_heads: groups,
      num_hidden_layers: layers,
      intermediate_size: hidden,
      max_position_embeddings: 64,
      ...ids,
    },
    'generation_config.json': ids,
    'tokenizer.json': tokenizer,
    'tokenizer_config.json': {
      tokenizer_class: 'PreTrainedTokenizerFast',
      bos_token: '<s>',
      eos_token: '</s>',
      pad_token: '</s>',
      model_max_length: 64,
    },
    'onnx/model.onnx': write(sizeOf(tokenizer)),
  };
}

function vitFolder() {
  const { side, patch, width, heads, layers, hidden, classes } = networks.vit;
  return {
    'config.json': {
      model_type: 'vit',
      architectures: ['ViTForImageClassification'],
      image_size: side,
      patch_size: patch,
      hidden_size: width,
      num_attention_heads: heads,
      num_hidden_layers: layers,
      intermediate_size: hidden,
      ...labels(Array.from({ length: classes }, (_, at) => `class ${at}`)),
    },
    'preprocessor_config.json': {
      image_processor_type: 'ViTImageProcessor',
      do_resize: false,
      do_rescale: true,
      rescale_factor: 1 / 255,
      do_normalize: true,
      image_mean: [0.5, 0.5, 0.5],
      image_std: [0.5, 0.5, 0.5],
      size: { height: side, width: side },
    },
    'onnx/model.onnx': networks.vitModel(),
  };
}

function whisperFolder() {
  const { mels, frames, width, heads, layers, hidden, positions } = networks.whisper;
  const times = Array.from({ length: frames + 1 }, (_, at) => `<|${(at / 50).toFixed(2)}|>`);
  const marks = [
    '<|startoftranscript|>',
    '<|en|>',
    '<|translate|>',
    '<|transcribe|>',
    '<|startofprev|>',
    '<|nospeech|>',
    '<|notimestamps|>',
  ];
  const tokenizer = bytePairs(['<|endoftext|>'], [...marks, ...times]);
  const id = (token) => tokenizer.model.vocab[token];
  const [start, end] = [id('<|startoftranscript|>'), id('<|endoftext|>')];
  const ids = {
    bos_token_id: end,
    eos_token_id: end,
    pad_token_id: end,
    decoder_start_token_id: start,
  };
  const samples = frames * 2 * 160;
  return {
    'config.json': {
      model_type: 'whisper',
      architectures: ['WhisperForConditionalGeneration'],
      is_encoder_decoder: true,
      vocab_size: sizeOf(tokenizer),
      num_mel_bins: mels,
      d_model: width,
      encoder_layers: layers,
      encoder_attention_heads: heads,
      encoder_ffn_dim: hidden,
      decoder_layers: layers,
      decoder_attention_heads: heads,
      decoder_ffn_dim: hidden,
      num_hidden_layers: layers,
      max_source_positions: frames,
      max_target_positions: positions,
      ...ids,
    },
    'generation_config.json': {
      ...ids,
      is_multilingual: false,
      max_length: positions,
      no_timestamps_token_id: id('<|notimestamps|>'),
      suppress_tokens: [],
      begin_suppress_tokens: [end],
    },
    'preprocessor_config.json': {
      feature_extractor_type: 'WhisperFeatureExtractor',
      processor_class: 'WhisperProcessor',
      feature_size: mels,
      sampling_rate: 16000,
      hop_length: 160,
      n_fft: 400,
      chunk_length: samples / 16000,
      n_samples: samples,
      nb_max_frames: frames * 2,
    },
    'tokenizer.json': tokenizer,
    'tokenizer_config.json': {
      tokenizer_class: 'WhisperTokenizer',
      bos_token: '<|endoftext|>',
      eos_token: '<|endoftext|>',
      pad_token: '<|endoftext|>',
      unk_token: '<|endoftext|>',
      model_max_length: positions,
    },
    'onnx/encoder_model.onnx': networks.whisperEncoder(),
    'onnx/decoder_model_merged.onnx': networks.whisperDecoder(sizeOf(tokenizer)),
  };
}

/** Writes all models below a folder, each in one of its name. */
export function writeModels(folder) {
  const models = {
    'bert-features': bertFolder({ features: true }, 'BertModel'),
    'bert-classes': bertFolder({ classes: 3 }, 'BertForSequenceClassification', [
      'no',
      'perhaps',
      'yes',
    ]),
    'bert-tokens': bertFolder({ tokens: 3 }, 'BertForTokenClassification', ['O', 'B-PER', 'B-LOC']),
    llama: llamaFolder(networks.llamaModel),
    'llama-grouped': llamaFolder(networks.groupedModel),
    vit: vitFolder(),
    whisper: whisperFolder(),
  };
  rmSync(folder, { recursive: true, force: true });
  for (const [name, files] of Object.entries(models)) {
    for (const [file, content] of Object.entries(files)) {
      const at = join(folder, name, file);
      mkdirSync(dirname(at), { recursive: true });
      writeFileSync(at, content instanceof Uint8Array ? content : JSON.stringify(content));
    }
  }
}
