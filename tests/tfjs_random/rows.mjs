// A row per operation: how its arguments are drawn, and its properties.
//   draw(c)     arguments, {ref} for tensors; undefined where nothing fits
//   exact       results are exact where operands are
//   isDiscontinuous  has jumps: only exact operands, so that rounding cannot change the result
//   run         how it is called where that is not lib.NAME(...args)
//   isAsync     returns a promise
//   reads       why traced functions cannot contain it
//   isMethod    false: the method of TensorFlow.js has other arguments, or does not exist
//   acceptsNumbers  operands may be JavaScript numbers
//   isRare      drawn less often
//   isCustom    its gradient is not that of differences
//   hangs(args) whether TensorFlow.js never ends
//   slope(step) what is wrong with the gradient of TensorFlow.js, if something is
//   rejected    why TensorFlow.js rejects calls that are accepted here
// Comments in the recipes state what is not drawn because TensorFlow.js is wrong there, or the two differ by design.
import { elementwise } from './rows_elementwise.mjs';
import { images } from './rows_images.mjs';
import { moves } from './rows_moves.mjs';
import { others } from './rows_others.mjs';
import { indexing } from './rows_indexing.mjs';
import { sums } from './rows_sums.mjs';
import { windows } from './rows_windows.mjs';

export const rows = {
  ...elementwise,
  ...sums,
  ...moves,
  ...indexing,
  ...windows,
  ...images,
  ...others,
};
