/** Classes of layers that saved models may name, beside those of the core. */
import { LatheError } from '../base/errors.js';
import type { CustomLayer } from './custom_layer.js';
import { layerClasses } from './layer_args.js';

/** A class of layers in JavaScript. */
export type LayerClass = (new (config: never) => CustomLayer) &
  Pick<typeof CustomLayer, 'className' | 'fromConfig'>;

/** The classes registered, by name. */
export const registeredClasses = new Map<string, LayerClass>();

/**
 * Lets `loadLayersModel` and configurations name the class: by its `className`, with what
 * `getConfig` gives. Registering another one by the same name replaces it. Errors: no className, or
 * that of a layer of the core.
 */
function registerClass(cls: LayerClass): void {
  const name = cls.className;
  if (typeof name !== 'string' || name === '') {
    throw new LatheError(`registerClass: ${cls.name} needs a static className`);
  }
  if ((Object.values(layerClasses) as string[]).includes(name)) {
    throw new LatheError(`registerClass: "${name}" is a layer of the package; choose another name`);
  }
  registeredClasses.set(name, cls);
}

/** As in TensorFlow.js. */
export const serialization = { registerClass };
