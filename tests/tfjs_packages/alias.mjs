// Resolves the names of TensorFlow.js in packages that import them: to this package, or to the real one of the repository.
import module, { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const parts = ['', '-core', '-layers', '-data', '-converter', '-backend-cpu', '-node'];

/** From now on imports and requires resolve to it, also where they name a folder of the package. */
export function alias(isOurs) {
  const { resolve } = createRequire(new URL('../../package.json', import.meta.url));
  const ours = import.meta.resolve('tensorlathe/tfjs');
  const urls = new Map(
    parts.map((part) => {
      const name = `@tensorflow/tfjs${part}`;
      // The real -node is a library for one system; what programs call is in the other too.
      const real = part === '-node' ? '@tensorflow/tfjs' : name;
      return [name, isOurs ? ours : pathToFileURL(resolve(real)).href];
    }),
  );
  module.registerHooks({
    resolve: (name, context, next) => {
      const url = urls.get(name.split('/', 2).join('/'));
      return url === undefined ? next(name, context) : { url, shortCircuit: true };
    },
  });
}
