/** D: time to classify one image, from numbers in JavaScript to numbers in JavaScript. */
import { mobileNetV1, mobileNetV2, resNet18, squeezeNet } from '../models/images.mjs';
import { inferenceRow } from './rows.mjs';

export const images = {
  title: 'Classifying one image of 224×224',
  task: 'infer',
  options: { resident: false },
  peers: ['tensorlathe', 'litert', 'tfjs', 'onnxruntime', 'jax'],
  rows: [mobileNetV1, mobileNetV2, resNet18, squeezeNet].map((build) => inferenceRow(build())),
};
