/** The namespace `math` of TensorFlow.js. */
import { confusionMatrix } from '../ops/bincount.js';

export const math = { confusionMatrix };
