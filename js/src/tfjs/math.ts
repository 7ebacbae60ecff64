/** `math` of TensorFlow.js. */
import { confusionMatrix } from '../ops/counts.js';

export const math = { confusionMatrix };
