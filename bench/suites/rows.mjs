/** What a suite's row is: a name, what is run, and the work in it. */
import { flopsOf } from '../models/model.mjs';

/** flops is 0 for a model without products. */
export const inferenceRow = (subject) => ({ name: subject.name, subject, flops: flopsOf(subject) });
