/** Serializes options as JSON for the core, rejecting values that JSON would silently change. */
import { LatheError } from './errors.js';
import { checkDepth } from './limits.js';

/**
 * A value as JSON; undefined properties are omitted.
 * Errors: NaN, infinities, functions, with the path to them; too many levels.
 */
export function encodeJson(value: unknown): string {
  return JSON.stringify(checked(value, ''));
}

/** The content of files as JSON, of any depth. Error: too deep for the engine. */
export function stringifyJson(value: unknown): string {
  try {
    return JSON.stringify(value ?? null);
  } catch (error) {
    throw new LatheError('it is nested too deep, or contains itself', { cause: error });
  }
}

function checked(value: unknown, path: string, depth = 0): unknown {
  checkDepth('options', depth);
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new LatheError(`${path}: must be a finite number, got ${value}`);
  }
  if (typeof value === 'function' || typeof value === 'symbol' || typeof value === 'bigint') {
    throw new LatheError(`${path}: a ${typeof value} is no option`);
  }
  if (Array.isArray(value))
    return value.map((item, at) => checked(item, `${path}[${at}]`, depth + 1));
  if (value === null || typeof value !== 'object') return value;
  if ('toJSON' in value && typeof value.toJSON === 'function') {
    return checked((value.toJSON as (key: string) => unknown)('layer'), path, depth + 1);
  }
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  const within = path === '' ? '' : `${path}.`;
  return Object.fromEntries(
    entries.map(([key, item]) => [key, checked(item, within + key, depth + 1)]),
  );
}
