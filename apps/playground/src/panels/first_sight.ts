// What the page does by itself when it is seen first: it trains for a few seconds, unless a person has something else at hand or wants rest.
import type { Kept } from '../session';
import { state, update } from '../store';
import { stop } from '../training';
import { begin } from './training';

/** After so long what was learnt has to do. */
const longest = 6000;

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
  let isOver = false;
  const end = setTimeout(() => {
    isOver = state.phase === 'training';
    if (isOver) stop();
  }, longest);
  await begin();
  clearTimeout(end);
  if (isOver) update({ status: `Trained for ${longest / 1000} s; there is more to learn` });
}
