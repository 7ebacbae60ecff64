/** Turns options into the JSON text the core reads, refusing what JSON would silently change. */
import { LatheError } from './errors.js';

/**
 * JSON text of a value; properties that are undefined are left out.
 * Errors: NaN, infinities, functions, with the place where they are.
 */
export function encodeJson(value: unknown): string {
  return JSON.stringify(checked(value, ''));
}

function checked(value: unknown, path: string): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new LatheError(`${path}: must be a finite number, got ${value}`);
  }
  if (typeof value === 'function' || typeof value === 'symbol' || typeof value === 'bigint') {
    throw new LatheError(`${path}: a ${typeof value} is no option`);
  }
  if (Array.isArray(value)) return value.map((item, at) => checked(item, `${path}[${at}]`));
  if (value === null || typeof value !== 'object') return value;
  if ('toJSON' in value && typeof value.toJSON === 'function') {
    return checked((value.toJSON as (key: string) => unknown)('layer'), path);
  }
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  const within = path === '' ? '' : `${path}.`;
  return Object.fromEntries(entries.map(([key, item]) => [key, checked(item, within + key)]));
}
