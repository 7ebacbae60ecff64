/** Caches that are emptied when memory is exhausted. */
export interface Evictable {
  free(): void;
}

/** Weak, as owners are collected with their caches. */
const caches = new Set<WeakRef<Evictable>>();

export const registerEvictable = (cache: WeakRef<Evictable>) => void caches.add(cache);
export const unregisterEvictable = (cache: WeakRef<Evictable>) => void caches.delete(cache);

/** Empties all caches; whether there were any. */
export function evictAll(): boolean {
  const found = [...caches].map((each) => each.deref());
  for (const each of found) each?.free();
  caches.clear();
  return found.some((each) => each !== undefined);
}
