/** What owners keep in case it is wanted again, for when there is no memory left: given up all at once. */
export interface Spares {
  free(): void;
}

/** Owners may be forgotten with all that they keep. */
const kept = new Set<WeakRef<Spares>>();

export const offer = (spares: WeakRef<Spares>) => void kept.add(spares);
export const withdraw = (spares: WeakRef<Spares>) => void kept.delete(spares);

/** Whether there was anything to give up. */
export function giveUpSpares(): boolean {
  const found = [...kept].map((each) => each.deref());
  for (const each of found) each?.free();
  kept.clear();
  return found.some((each) => each !== undefined);
}
