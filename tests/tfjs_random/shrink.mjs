// The shortest program that still fails.
import { refsOf, resultsOf } from './program.mjs';

/** Without unused leaves, and with the results of TensorFlow.js. */
async function settled(program) {
  const used = new Set([...program.steps, ...program.rejected].flatMap(({ args }) => refsOf(args)));
  const leaves = program.leaves.filter(({ id }) => used.has(id));
  const next = { ...program, leaves, within: undefined };
  next.expected = await resultsOf(next);
  return next;
}

/** Without one step: its results become leaves. */
async function without(program, at) {
  const { outs } = program.steps[at];
  const results = outs.map((id) => ({ id, ...program.expected.get(id), fixed: true }));
  if (results.some(({ dtype }) => dtype === 'complex64')) return undefined;
  const steps = program.steps.filter((_, index) => index !== at);
  return settled({ ...program, steps, leaves: [...program.leaves, ...results] });
}

/** Shortens the program while `fails` returns an error; returns the program and its error. */
export async function shrunk(program, fails) {
  let [best, error] = [program, await fails(program)];
  const attempt = async (make) => {
    try {
      const next = await make();
      const found = next && (await fails(next));
      if (found === undefined) return false;
      [best, error] = [next, found];
      return true;
    } catch {
      return false;
    }
  };
  for (let at = best.steps.length - 1; at >= 0; --at) {
    await attempt(() => without(best, at));
  }
  await attempt(() => settled({ ...best, rejected: [] }));
  return { program: best, error };
}
