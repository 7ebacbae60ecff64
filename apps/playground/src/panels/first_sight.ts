// What the page does by itself when it is seen first: it trains for a few seconds, unless a person has something else at hand or wants rest.
import type { Kept } from '../session';
import { state } from '../store';
import { stop } from '../training';
import { begin } from './training';

/** After so long what was learnt has to do. */
const longest = 7000;

/** Whether nothing was changed when the page was seen last. */
function isUntouched({ network, settings, draft }: Kept): boolean {
  const before = JSON.stringify([network, settings]);
  const now = JSON.stringify([state.network, state.settings]);
  return draft === undefined && before === now;
}

/** Before `kept`, what was kept of the last time, is taken up. The address may say ?train=no. */
export function wantsTraining(kept: Kept | undefined): boolean {
  const wantsRest = matchMedia('(prefers-reduced-motion: reduce)').matches;
  const asked = new URLSearchParams(location.search).get('train') !== 'no';
  return asked && !wantsRest && (kept === undefined || isUntouched(kept));
}

/** Trains until the epochs are over, a person stops it, or the time is. */
export async function trainAtFirst(): Promise<void> {
  const end = setTimeout(() => {
    if (state.phase === 'training') stop();
  }, longest);
  try {
    await begin();
  } finally {
    clearTimeout(end);
  }
}
