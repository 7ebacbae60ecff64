/** Registry of custom layer classes that saved models may name. */
import { LatheError } from '../base/errors.js';
import type { CustomLayer } from './custom_layer.js';
import { layerClasses } from './layer_classes.js';

/** A class of custom layers. */
export type LayerClass = (new (config: never) => CustomLayer) &
  Pick<typeof CustomLayer, 'className' | 'fromConfig'>;

/** The classes registered, by name. */
export const registeredClasses = new Map<string, LayerClass>();

/**
 * Registers a class by its `className`, so that `loadLayersModel` and `fromConfig` can create its layers. A class with the same
 * name is replaced. Errors: no className, or that of a built-in layer.
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
