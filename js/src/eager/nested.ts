/** Arguments and results of functions of tensors: what lies in arrays and objects, and how they are made again. */
import { LatheError } from '../base/errors.js';

/** Something taken apart. */
export interface Nested {
  /** What lies at its ends, from left to right. */
  readonly leaves: readonly unknown[];
  /** The same for things of the same structure. */
  readonly key: string;
  /** The same with other ends. */
  readonly rebuild: (leaves: readonly unknown[]) => unknown;
}

/** Says of an end how its type is spelled; undefined where it is to be looked into. */
export type Spell = (value: unknown, path: string) => string | undefined;

type Build = (leaves: readonly unknown[]) => unknown;

/** Errors: what `spell` refuses; arrays and objects that hold themselves. */
export function takenApart(value: unknown, spell: Spell): Nested {
  const leaves: unknown[] = [];
  const around = new Set<unknown>();
  let key = '';
  const look = (each: unknown, path: string): Build => {
    const type = spell(each, path);
    if (type !== undefined) {
      key += `${type};`;
      const at = leaves.push(each) - 1;
      return (all) => all[at];
    }
    if (around.has(each)) throw new LatheError(`${path || 'it'} holds itself`);
    around.add(each);
    const isList = Array.isArray(each);
    key += isList ? '[' : '{';
    const parts = Object.entries(each as object).map(([name, part]): [string, Build] => {
      if (!isList) key += `${JSON.stringify(name)}:`;
      return [name, look(part, path === '' ? name : `${path}.${name}`)];
    });
    key += isList ? ']' : '}';
    around.delete(each);
    if (isList) return (all) => parts.map(([, build]) => build(all));
    return (all) => Object.fromEntries(parts.map(([name, build]) => [name, build(all)]));
  };
  const rebuild = look(value, '');
  return { leaves, key, rebuild };
}

/** Whether it is an array, or an object that is nothing but its properties. */
export function isNested(value: unknown): value is object {
  if (Array.isArray(value)) return true;
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
