/** D: time to classify one image, from numbers in JavaScript to numbers in JavaScript. jax-js needs seconds for each. */
import { mobileNetV1, mobileNetV2, resNet18, squeezeNet } from '../models/images.mjs';
import { inferenceRow } from './rows.mjs';

export const images = {
  title: 'Image models',
  about: 'Classifying one image of 224×224: numbers go in from JavaScript and come back.',
  task: 'infer',
  options: { resident: false },
  peers: ['tensorlathe', 'litert', 'tfjs', 'onnxruntime'],
  rows: [mobileNetV1, mobileNetV2, resNet18, squeezeNet].map((build) => inferenceRow(build())),
  targets: [
    { engine: 'chromium', threads: 1, fastest: 1.25 },
    { threads: 2, oneThread: 1.7 },
  ],
};
