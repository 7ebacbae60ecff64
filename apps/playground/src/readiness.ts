// Reasons why the page cannot train now, for display.
import { isSound } from './network';
import { isTraining, state } from './store';

/** Every reason why a training cannot begin now; none while one runs. */
export function obstacles(): string[] {
  const { phase, status, data, checked, settingProblems } = state;
  if (isTraining()) return [];
  if (phase !== 'idle') return [status];
  if (data === undefined) return ['There are no examples to learn from.'];
  const reasons = Object.values(settingProblems);
  if (checked?.problem !== undefined) reasons.push(checked.problem);
  for (const layer of checked?.layers ?? []) {
    if (layer.problem !== undefined) reasons.push(`${layer.class}: ${layer.problem}.`);
  }
  if (reasons.length === 0 && !isSound(checked)) reasons.push('There is no network.');
  return reasons;
}

/** The status text next to the Train button. */
export function statusText(): string {
  const reasons = obstacles();
  if (state.phase !== 'idle' || reasons.length === 0) return state.status;
  return `Cannot train yet. ${reasons.join(' ')}`;
}
