// A row per operation: how its arguments are drawn, and what is known of it.
//   draw(c)     arguments, {ref} for tensors; undefined where nothing fits
//   exact       results are exact where operands are
//   cuts        jumps: takes exact operands alone, so that rounding decides nothing
//   run         how it is called where that is not lib.NAME(...args)
//   isAsync     gives a promise
//   reads       why functions that are traced have none of it
//   isMethod    false: the method of TensorFlow.js takes other arguments, or none
//   takesNumbers  numbers of JavaScript may stand beside its tensors
//   isRare      drawn less often
//   isCustom    its gradient is not that of differences
//   hangs(args) whether TensorFlow.js never ends
//   slope(step) what is wrong with the gradient of TensorFlow.js, if something is
//   refused     why TensorFlow.js refuses calls that are taken here
// Comments in the recipes say what is not drawn because TensorFlow.js is wrong there, or the two differ knowingly.
import { elementwise } from './rows_elementwise.mjs';
import { images } from './rows_images.mjs';
import { moves } from './rows_moves.mjs';
import { others } from './rows_others.mjs';
import { places } from './rows_places.mjs';
import { sums } from './rows_sums.mjs';
import { windows } from './rows_windows.mjs';

export const rows = {
  ...elementwise,
  ...sums,
  ...moves,
  ...places,
  ...windows,
  ...images,
  ...others,
};
