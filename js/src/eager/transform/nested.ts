/**
 * Pytrees: flattens nested arrays and objects, the arguments and results of functions of tensors, and rebuilds them.
 */
import { LatheError } from '../../base/errors.js';

/** A flattened value. */
export interface FlattenedValue {
  /** The leaves from left to right. */
  readonly leaves: readonly unknown[];
  /** Equal for values of the same structure. */
  readonly key: string;
  /** The same structure with other leaves. */
  readonly rebuild: (leaves: readonly unknown[]) => unknown;
}

/** The type of a leaf in the key; undefined for containers to descend into. */
export type LeafType = (value: unknown, path: string) => string | undefined;

type Build = (leaves: readonly unknown[]) => unknown;

/** Errors: those of `leafType`; arrays and objects that contain themselves. */
export function flattenNested(value: unknown, leafType: LeafType): FlattenedValue {
  const leaves: unknown[] = [];
  const around = new Set<unknown>();
  let key = '';
  const look = (each: unknown, path: string): Build => {
    const type = leafType(each, path);
    if (type !== undefined) {
      key += `${type};`;
      const at = leaves.push(each) - 1;
      return (all) => all[at];
    }
    if (around.has(each)) throw new LatheError(`${path || 'it'} contains itself`);
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

/** Whether it is an array or a plain object. */
export function isNested(value: unknown): value is object {
  if (Array.isArray(value)) return true;
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
