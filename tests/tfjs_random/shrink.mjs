// The shortest program that still fails.
import { refsOf, resultsOf } from './program.mjs';

/** Without leaves that nothing reads, and with what TensorFlow.js gives. */
async function settled(program) {
  const used = new Set([...program.steps, ...program.refused].flatMap(({ args }) => refsOf(args)));
  const leaves = program.leaves.filter(({ id }) => used.has(id));
  const next = { ...program, leaves, within: undefined };
  next.wanted = await resultsOf(next);
  return next;
}

/** Without one step: what it gave is there from the beginning. */
async function without(program, at) {
  const { outs } = program.steps[at];
  const results = outs.map((id) => ({ id, ...program.wanted.get(id), fixed: true }));
  if (results.some(({ dtype }) => dtype === 'complex64')) return undefined;
  const steps = program.steps.filter((_, place) => place !== at);
  return settled({ ...program, steps, leaves: [...program.leaves, ...results] });
}

/** The program and its error, made shorter while `fails` gives one. */
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
  await attempt(() => settled({ ...best, refused: [] }));
  return { program: best, error };
}
