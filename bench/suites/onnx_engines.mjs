/** Tasks of ONNX models in every engine that a run has. */

/** What tasks need of the settings. */
export const usual = ({ rounds, roundMs, warmUpMs }) => ({ rounds, roundMs, warmUpMs });

/** Where there are several in a task. */
const title = (engine) =>
  `${engine.title}, ${engine.threads === 1 ? 'one thread' : `${engine.threads} threads`}`;

/**
 * `measure` in every engine, with its title and `call`, which runs a task in a fresh process or page; it returns rows and
 * Markdown, which are concatenated, and problems.
 */
export async function inEngines(settings, measure) {
  const configurations = [];
  const problems = [];
  for await (const engine of settings.engines()) {
    const call = async (message) => {
      const peer = await engine.open();
      try {
        const reply = await peer.call({ command: 'onnx', ...message });
        if (reply.error) throw new Error(reply.error.split('\n').slice(0, 3).join(' '));
        return reply;
      } finally {
        await peer.close();
      }
    };
    const { name, threads } = engine;
    try {
      const measured = await measure({ title: title(engine), name, threads, call });
      console.log(`\n${measured.markdown}`);
      problems.push(...(measured.problems ?? []));
      configurations.push({ engine: name, title: engine.title, ...measured, threads });
    } catch (error) {
      problems.push(`${title(engine)}: ${error.message}`);
    }
  }
  const markdown = configurations.map((each) => each.markdown).join('\n\n');
  const results = configurations.map(({ markdown: _, problems: __, ...rest }) => rest);
  return { configurations: results, markdown, problems };
}
