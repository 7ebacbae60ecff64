// The helpers of tfjs-core's specs that select the environments of a suite, for a subject. There is one environment, `lathe`: the
// subject with the backend it has.

/** Whether an environment has these flags and satisfies the predicate. */
function envSatisfiesConstraints(env, testEnv, constraints) {
  const { flags = {}, predicate } = constraints ?? {};
  const has = Object.entries(flags).every(([name, value]) => env.get(name) === value);
  return has && (predicate?.(testEnv) ?? true);
}

/** What follows `name` among the arguments, or undefined without it. */
function after(args, name) {
  return args.includes(name) ? (args[args.indexOf(name) + 1] ?? '') : undefined;
}

function parseTestEnvFromKarmaFlags(args, testEnvs) {
  const flags = after(args, '--flags');
  const name = after(args, '--testEnv');
  if (name === undefined) {
    if (flags !== undefined) throw new Error('--flags needs --testEnv');
    return null;
  }
  const found = testEnvs.find((each) => each.name === name);
  if (!found) throw new Error(`there is no environment ${name}`);
  if (flags !== undefined) found.flags = JSON.parse(flags);
  return found;
}

/** Runs specs sequentially, although jasmine starts the next one after a timeout. */
function locks(purge) {
  let last = Promise.resolve();
  return (spec) => () => {
    const run = async () => {
      purge?.();
      await new Promise((resolve, reject) => {
        const done = Object.assign(() => resolve(), { fail: reject });
        const result = spec(done);
        if (typeof result?.then === 'function') result.then(resolve, reject);
      });
    };
    last = last.then(run, run);
    return last;
  };
}

export function jasmineUtil(tf, { backend, purge }) {
  const env = () => tf.env();
  const platform = () => (env().platform ? env().platformName : 'node');
  const testEnv = { name: 'lathe', backendName: backend, isDataSync: backend !== 'webgpu' };

  /** A suite for the environment, if it satisfies the constraints. */
  function describeWithFlags(name, constraints, tests) {
    if (!envSatisfiesConstraints(env(), testEnv, constraints)) return;
    describe(`${name} lathe`, () => {
      const engine = tf.engine?.();
      beforeAll(async () => {
        engine?.reset();
        if (env().registerFlag) env().set('IS_TEST', true);
        if (engine) await tf.setBackend(backend);
      });
      beforeEach(() => engine?.startScope());
      afterEach(() => {
        engine?.endScope();
        engine?.disposeVariables();
      });
      afterAll(() => engine?.reset());
      tests(testEnv);
    });
  }

  class TestKernelBackend extends (tf.KernelBackend ?? Object) {
    dispose() {}
  }

  return {
    ALL_ENVS: {},
    NODE_ENVS: { predicate: () => platform() === 'node' },
    BROWSER_ENVS: { predicate: () => platform() === 'browser' },
    CHROME_ENVS: { flags: { IS_CHROME: true } },
    SYNC_BACKEND_ENVS: { predicate: ({ isDataSync }) => isDataSync },
    TEST_ENVS: [testEnv],
    TestKernelBackend,
    describeWithFlags,
    envSatisfiesConstraints,
    parseTestEnvFromKarmaFlags,
    runWithLock: locks(purge),
  };
}
