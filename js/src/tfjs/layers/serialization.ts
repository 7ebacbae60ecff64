/** `tf.serialization`: the registry of classes that configurations refer to by name. */
import { LatheError } from '../../base/errors.js';
import { isCustom } from '../../layers/custom_layer.js';
import { type LayerClass, serialization } from '../../layers/serialization.js';
import { optimizerClasses } from '../optimizers/train.js';

export type ConfigDict = Record<string, unknown>;

/** An object that can be serialized to a configuration and created from one. */
export abstract class Serializable {
  static className: string;

  abstract getConfig(): ConfigDict;

  /** Its name in configurations. */
  getClassName(): string {
    return (this.constructor as typeof Serializable).className;
  }

  static fromConfig<T>(this: new (config: any) => T, config: ConfigDict): T {
    return new this(config);
  }
}

interface SerializableConstructor {
  new (...args: any[]): object;
  className: string;
  fromConfig?(...args: any[]): object;
}

type Entry = [SerializableConstructor, SerializableConstructor['fromConfig']];

/** The registered classes, by `className`. */
export class SerializationMap {
  static instance: SerializationMap | undefined;

  readonly classNameMap: Record<string, Entry> = {};

  static getMap(): SerializationMap {
    if (SerializationMap.instance === undefined) {
      SerializationMap.instance = new SerializationMap();
      for (const each of optimizerClasses) SerializationMap.register(each);
    }
    return SerializationMap.instance;
  }

  static register(cls: SerializableConstructor): void {
    SerializationMap.getMap().classNameMap[cls.className] = [cls, cls.fromConfig];
  }
}

const registeredNames = new Map<SerializableConstructor, string>();

/**
 * Registers a class by its `className`, and as `pkg>name`; a custom layer also for `loadLayersModel`. Errors: a className
 * that is missing, empty or not a string, or that of a built-in layer.
 */
export function registerClass<T extends SerializableConstructor>(
  cls: T,
  pkg = 'Custom',
  name: string = cls.className,
): T {
  const fail = (why: string) => new LatheError(`registerClass: ${cls.name} ${why}`);
  if (cls.className == null) throw fail('does not have the static className property');
  if (typeof cls.className !== 'string') {
    throw fail(`: className is required to be a string, but got type ${typeof cls.className}`);
  }
  if (cls.className === '') throw fail('has an empty-string as its className');
  SerializationMap.register(cls);
  registeredNames.set(cls, `${pkg}>${name}`);
  if (isCustom(cls.prototype as object)) serialization.registerClass(cls as unknown as LayerClass);
  return cls;
}

/** The registered name of a class, else its `className`. */
export const getRegisteredName = (cls: SerializableConstructor): string =>
  registeredNames.get(cls) ?? cls.className;
