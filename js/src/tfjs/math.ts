/** The namespace `math` of TensorFlow.js. */
import { confusionMatrix } from '../ops/reductions/bincount.js';

export const math = { confusionMatrix };
