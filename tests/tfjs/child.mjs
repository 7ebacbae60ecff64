// Runs spec files one after the other and sends what each spec gave. Arguments as one JSON text: subject, backend, first,
// only, and files as addresses.
import { createRequire } from 'node:module';
import { hookSubject, specFolder } from './subjects.mjs';

const jasmineRequire = createRequire(import.meta.url)('jasmine-core/lib/jasmine-core/jasmine.js');
const { subject, files, only, ...settings } = JSON.parse(process.argv[2]);
const wanted = new RegExp(only ?? '');
/** Without waiting, what was not yet sent when the process ends is lost. */
const sent = [];
const send = (message) => sent.push(new Promise((resolve) => process.send(message, resolve)));

/** A new jasmine with its functions as globals. */
function freshJasmine() {
  const jasmine = jasmineRequire.core(jasmineRequire);
  const env = jasmine.getEnv({ suppressLoadErrors: true });
  Object.assign(globalThis, jasmineRequire.interface(jasmine, env));
  jasmine.DEFAULT_TIMEOUT_INTERVAL = 20000;
  return env;
}

const firstLine = (text) => String(text).trim().split('\n')[0].slice(0, 300);

function report(file, { status, fullName, failedExpectations }) {
  if (status === 'excluded') return;
  const error = failedExpectations[0] && firstLine(failedExpectations[0].message);
  send({ file, name: fullName, status, error });
}

async function runFile(file) {
  const env = freshJasmine();
  send({ file, begins: true });
  try {
    await import(`${specFolder.href}${file}.js`);
  } catch (error) {
    return send({ file, error: firstLine(error.message), broken: true });
  }
  const specFilter = (spec) => wanted.test(file) || wanted.test(spec.getFullName());
  env.configure({ random: false, specFilter });
  const suiteDone = ({ fullName, failedExpectations }) => {
    if (failedExpectations.length > 0) {
      report(file, {
        status: 'failed',
        fullName: `${fullName} (around its specs)`,
        failedExpectations,
      });
    }
  };
  env.addReporter({
    specStarted: ({ fullName, status }) =>
      status !== 'excluded' && send({ file, starts: fullName }),
    specDone: (result) => report(file, result),
    suiteDone,
    jasmineDone: ({ failedExpectations }) =>
      suiteDone({ fullName: 'the file', failedExpectations }),
  });
  await env.execute();
  send({ file, ends: true });
}

await hookSubject(subject, settings);
console.warn = () => {};
for (const file of files) await runFile(file);
await Promise.all(sent);
process.disconnect();
