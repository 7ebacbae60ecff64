// Cases whose results WGSL does not determine.

/**
 * Cases that depend on unspecified behavior of WGSL (floating-point evaluation: NaN and infinities may be assumed
 * absent, subnormals flushed), traced to the operation that differs. The interpreter must have met them, too.
 */
const open = new Map([
  ['module_2', 'mod(0, 0) is 0'],
  ['module_56', 'max(sqrt(-0.375), -0.375) is -0.375, so it is equal to itself'],
  ['module_123', 'pow(-1, log(-1)) is 1, as if log(-1) were 0'],
  ['module_134', 'pow(-1, y) is 1 for a y of the bits 1, a subnormal'],
  ['module_142', 'mod(0, 0) is 0'],
  ['module_160', 'log of the bits 1, a subnormal, is the one of 0'],
]);
/** Why a case may have this problem; undefined: it may not. */
export const openReason = (test, problem) =>
  test.irregular && / expected .*, got /.test(problem) ? open.get(test.name) : undefined;
