/** Ourselves in Node, with pairs of 128-bit operations fused to 256 bits: an experiment of the engine. */
import * as tl from 'tensorlathe';
import { Unsupported } from '../models/model.mjs';
import { infer as inferNarrow } from './tensorlathe.mjs';

export async function infer(model, options) {
  try {
    await tl.env().set('NODE_REVECTORIZE', true);
  } catch (error) {
    throw new Unsupported(error.message);
  }
  return inferNarrow(model, options);
}
