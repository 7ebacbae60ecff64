// At the first visit the page trains for a few seconds, unless the user has a saved session or prefers reduced motion.
import type { SavedSession } from '../session';
import { state, update } from '../store';
import { stop } from '../training';
import { begin } from './training';

/** After so long what was learned has to do. */
const longest = 6000;

/** Whether nothing was changed when the page was seen last. */
function isUntouched({ network, settings, draft }: SavedSession): boolean {
  const before = JSON.stringify([network, settings]);
  const now = JSON.stringify([state.network, state.settings]);
  return draft === undefined && before === now;
}

/** Whether to train, called before the saved session is restored; ?train=no in the URL disables it. */
export function shouldTrainAtFirst(saved: SavedSession | undefined): boolean {
  const prefersReducedMotion = matchMedia('(prefers-reduced-motion: reduce)').matches;
  const isEnabled = new URLSearchParams(location.search).get('train') !== 'no';
  return isEnabled && !prefersReducedMotion && (saved === undefined || isUntouched(saved));
}

/** Trains until all epochs are done, the user stops it, or the time limit. */
export async function trainAtFirst(): Promise<void> {
  let isOver = false;
  const end = setTimeout(() => {
    isOver = state.phase === 'training';
    if (isOver) stop();
  }, longest);
  await begin();
  clearTimeout(end);
  if (isOver) update({ status: `Trained for ${longest / 1000} s; there is more to learn` });
}
