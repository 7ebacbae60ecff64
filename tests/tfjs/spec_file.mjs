// One spec file in a separate jasmine, in Node or a page.

const firstLine = (text) => String(text).trim().split('\n')[0].slice(0, 300);

/** A new jasmine with its functions as globals. */
function freshJasmine(jasmineRequire) {
  const jasmine = jasmineRequire.core(jasmineRequire);
  const env = jasmine.getEnv({ suppressLoadErrors: true });
  Object.assign(globalThis, jasmineRequire.interface(jasmine, env));
  jasmine.DEFAULT_TIMEOUT_INTERVAL = 20000;
  return env;
}

/**
 * Runs the specs whose file or full name matches `only`, and sends their results. `load` imports the file.
 */
export async function runSpecFile({ jasmineRequire, file, only = '', load, send }) {
  const env = freshJasmine(jasmineRequire);
  const selected = new RegExp(only);
  const report = ({ status, fullName, failedExpectations }) => {
    if (status === 'excluded') return;
    const error = failedExpectations[0] && firstLine(failedExpectations[0].message);
    send({ file, name: fullName, status, error });
  };
  send({ file, begins: true });
  try {
    await load();
  } catch (error) {
    send({ file, error: firstLine(error.message), broken: true });
    return;
  }
  const specFilter = (spec) => selected.test(file) || selected.test(spec.getFullName());
  env.configure({ random: false, specFilter });
  const suiteDone = ({ fullName, failedExpectations }) => {
    if (failedExpectations.length === 0) return;
    report({ status: 'failed', fullName: `${fullName} (around its specs)`, failedExpectations });
  };
  env.addReporter({
    specStarted: ({ fullName, status }) =>
      status !== 'excluded' && send({ file, starts: fullName }),
    specDone: report,
    suiteDone,
    jasmineDone: ({ failedExpectations }) =>
      suiteDone({ fullName: 'the file', failedExpectations }),
  });
  await env.execute();
  send({ file, ends: true });
}
