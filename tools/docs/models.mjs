// The page "Models": known models that run, with their size and the times that `bench` has recorded in docs/benchmarks/*.json. As a
// program it prints the page. It knows the names of the rows there, not how they were measured.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const recorded = (name) =>
  JSON.parse(readFileSync(new URL(`../../docs/benchmarks/${name}.json`, import.meta.url), 'utf8'));

const github = 'https://github.com/';
const source = `${github}tensorlathe/tensorlathe/blob/main/`;

/** Rows of `bench onnx`: name there, title, task, bytes of the file, repository. */
const published = [
  ['mnist-8__mnist-8', 'MNIST-8', 'handwritten digits', 26454, 'onnx/models'],
  [
    'shufflenet-v2-12-int8__shufflenet-v2-12-int8',
    'ShuffleNet v2, int8',
    'image classes',
    2388912,
    'onnx/models',
  ],
  [
    'super_resolution__super-resolution-10',
    'Super resolution 10',
    'images enlarged 3×',
    240078,
    'onnx/models',
  ],
  [
    'super_resolution__super_resolution',
    'Super resolution',
    'images enlarged 3×',
    240078,
    'onnx/models',
  ],
  ['fastestdet__FastestDet', 'FastestDet', 'objects', 998169, 'dog-qiuqiu/FastestDet'],
  ['yolox__yolox_nano_3class', 'YOLOX-Nano', 'objects', 3618103, 'Megvii-BaseDetection/YOLOX'],
  [
    'ultraface__version-RFB-320',
    'UltraFace RFB-320',
    'faces',
    1270727,
    'Linzaer/Ultra-Light-Fast-Generic-Face-Detector-1MB',
  ],
  [
    'ultraface__version-RFB-320_without_postprocessing',
    'UltraFace RFB-320, raw',
    'faces',
    1163666,
    'Linzaer/Ultra-Light-Fast-Generic-Face-Detector-1MB',
  ],
  [
    'ultraface__version-RFB-640',
    'UltraFace RFB-640',
    'faces',
    1588012,
    'Linzaer/Ultra-Light-Fast-Generic-Face-Detector-1MB',
  ],
  [
    'ultraface__version-slim-320',
    'UltraFace slim-320',
    'faces',
    1195330,
    'Linzaer/Ultra-Light-Fast-Generic-Face-Detector-1MB',
  ],
  [
    'mediapipe__face_detection_short_range',
    'MediaPipe face detection',
    'faces',
    418837,
    'google-ai-edge/mediapipe',
  ],
  [
    'mediapipe__hand_landmark_lite',
    'MediaPipe hand landmarks',
    'hands',
    4109010,
    'google-ai-edge/mediapipe',
  ],
  [
    'mediapipe__iris_landmark',
    'MediaPipe iris landmarks',
    'eyes',
    2627280,
    'google-ai-edge/mediapipe',
  ],
  [
    'matting__msra_190729',
    'MSRA matting',
    'background of a video call',
    751384,
    'microsoft/onnxjs',
  ],
  ['silero-vad__silero_vad', 'Silero VAD', 'speech or not', 2327524, 'snakers4/silero-vad'],
  [
    'silero-vad__silero_vad_16k_op15',
    'Silero VAD, 16 kHz',
    'speech or not',
    1289603,
    'snakers4/silero-vad',
  ],
  ['dtln__model_1', 'DTLN, first half', 'noise in speech', 1458237, 'breizhn/DTLN'],
  ['dtln__model_2', 'DTLN, second half', 'noise in speech', 2510010, 'breizhn/DTLN'],
];

/** Models of TensorFlow.js and Keras that the tests load and compare: title, task, format, bytes, repository. */
const tested = [
  ['Tiny Darknet', 'image classes', 'TensorFlow.js layers', 4219188, 'ml5js/ml5-data-and-models'],
  ['CVAE Quick Draw', 'drawings', 'TensorFlow.js graph', 256131, 'ml5js/ml5-data-and-models'],
  ['Basic Pitch', 'notes of music', 'TensorFlow.js graph', 916929, 'spotify/basic-pitch-ts'],
  ['Abalone', 'age by measurements', 'TensorFlow.js layers', 14216, 'tensorflow/tfjs-examples'],
  ['ResNet-8', 'CIFAR-10 classes', 'Keras 2', 1116712, 'mlcommons/tiny'],
  ['MobileNet v1 0.25', 'person or not', 'Keras 2', 3124024, 'mlcommons/tiny'],
  ['Streaming wake word', 'words', 'Keras 2', 684056, 'mlcommons/tiny'],
  ['ToyCar', 'sounds of a broken toy', 'Keras 2', 3411016, 'mlcommons/tiny'],
];

const size = (bytes) =>
  bytes < 1e6 ? `${Math.round(bytes / 1e3)} KB` : `${(bytes / 1e6).toFixed(1)} MB`;
const link = (title, repository) => `[${title}](${github}${repository})`;
const digits = (value) =>
  value < 0.1 ? value.toFixed(3) : value < 10 ? value.toFixed(2) : value.toFixed(1);
const table = (titles, rows) =>
  [titles, titles.map((_, at) => (at < 2 ? '---' : '--:')), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');

/** The rows of a suite in Chromium on one thread. */
function inChromium(suite) {
  const found = suite.configurations.find(
    ({ engine, threads }) => engine === 'chromium' && threads === 1,
  );
  if (found === undefined) throw new Error('no recorded times in Chromium on one thread');
  return found;
}

function rowOf({ rows }, name) {
  const row = rows.find((each) => each.name === name);
  if (row === undefined) throw new Error(`docs/benchmarks has no row ${name}`);
  return row;
}

/** The page as Markdown. */
export function modelsPage() {
  const onnx = recorded('onnx');
  const images = recorded('images');
  const texts = recorded('texts');
  const decode = recorded('decode');
  const [onnxRows, imageRows] = [onnx, images].map(inChromium);
  const files = published.map(([name, title, task, bytes, repository]) => {
    const [ours, theirs] = rowOf(onnxRows, name).times;
    return [
      link(title, repository),
      task,
      size(bytes),
      digits(ours),
      digits(theirs),
      `${(theirs / ours).toFixed(1)}×`,
    ];
  });
  const peer = ({ ms } = {}) => (ms === undefined ? '–' : digits(ms));
  const classifiers = imageRows.rows.map(({ name, peers }) => [
    name,
    'image classes, 224×224',
    size(peers.tensorlathe.stats.moduleBytes),
    ...['tensorlathe', 'onnxruntime', 'tfjs', 'litert'].map((each) => peer(peers[each])),
  ]);
  const encoder = inChromium(texts).rows.find(({ name }) => name.startsWith('texts of these'));
  const decoders = inChromium(decode).rows.map(({ name, rates }) => [
    `Llama, ${name}`,
    'text, token by token',
    ...[...rates, undefined]
      .slice(0, 3)
      .map((rate) => (rate === undefined ? '–' : rate.toFixed(1))),
  ]);
  return [
    '# Models',
    '',
    'Known models that run, and how fast. Times are milliseconds of one call in Chromium on one thread, beside other libraries in the',
    `same minutes on the same machine (${onnx.machine}). \`./dev bench\` measures them; \`docs/benchmarks\` has all`,
    'engines, two threads and the times to the first result.',
    '',
    '## ONNX files as published',
    '',
    `Recorded on ${onnx.date}. Loaded by \`tl.loadModel\`; [the code](${source}bench/onnx/published.mjs).`,
    '',
    table(['model', 'task', 'file', 'Tensorlathe', 'ONNX Runtime Web', 'ratio'], files),
    '',
    '## Image classifiers',
    '',
    `Recorded on ${images.date}. The networks with random weights; [the code](${source}bench/models/images.mjs).`,
    '',
    table(
      ['model', 'task', 'module', 'Tensorlathe', 'ONNX Runtime Web', 'TensorFlow.js', 'LiteRT.js'],
      classifiers,
    ),
    '',
    '## Language',
    '',
    `A sentence encoder of the size of all-MiniLM-L6 (22.7 M weights): ${digits(encoder.times[0])} ms for a sentence, ONNX Runtime Web`,
    `${digits(encoder.times[1])} ms (${texts.date}; [the code](${source}bench/onnx/texts.mjs)). transformers.js runs on`,
    '`tensorlathe/onnxruntime`: [Coming from ONNX Runtime Web](from_onnxruntime.md).',
    '',
    `A Llama of 109.5 M weights in ONNX, tokens a second (${decode.date}; [the code](${source}bench/suites/decode.mjs)):`,
    '',
    table(['weights', 'task', 'Tensorlathe', 'ONNX Runtime Web', 'wllama'], decoders),
    '',
    '## TensorFlow.js and Keras',
    '',
    'The tests load these and compare their results with TensorFlow.js, or their weights with the file: ',
    `[the code](${source}tests/js/node/io).`,
    '',
    table(
      ['model', 'task', 'files', 'format'],
      tested.map(([title, task, format, bytes, repository]) => [
        link(title, repository),
        task,
        size(bytes),
        format,
      ]),
    ),
    '',
    'npm packages with models that run unmodified are in [Coming from TensorFlow.js](from_tensorflow.md#packages-that-import-tensorflowjs).',
    '',
  ].join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(modelsPage());
