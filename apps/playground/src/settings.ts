// What settings may be, and what is to be said of those that are unusual. Knows no panel.
import type { SettingName } from './store';
import { tables } from './tables';

/** Whole numbers by their settings: what they are called, and the largest that makes sense. */
const counts: Partial<Record<SettingName, [name: string, most: number]>> = {
  batchSize: ['Batch size', 4096],
  epochs: ['Epochs', 10000],
  batchesInMemory: ['Batches in memory', 100000],
  testSize: ['Test size', 4096],
  predictSize: ['Prediction size', 4096],
};

/** The learning rate that the optimiser has when nobody says another. */
export function usualRate(optimizer: string): number {
  const row = tables().optimizers.find(({ name }) => name === optimizer);
  const rate = row?.parameters.find(({ name }) => name === 'learningRate')?.default;
  return Number(rate ?? 0.001);
}

/** Why a number that a person wrote cannot be taken, or nothing. */
export function problemOf(key: SettingName, value: number, optimizer: string): string | undefined {
  const found = counts[key];
  if (found !== undefined) {
    const [name, most] = found;
    const isRight = Number.isInteger(value) && value >= 1 && value <= most;
    return isRight ? undefined : `${name}: it must be a whole number from 1 to ${most}.`;
  }
  if (value > 0 && Number.isFinite(value)) return undefined;
  const why =
    value === 0
      ? 'with 0 the weights never move'
      : value < 0
        ? 'below 0 the network would unlearn'
        : 'it says how far each step moves the weights';
  return `Learning rate: it must be a number above 0; ${why}. Try ${usualRate(optimizer)}, usual for ${optimizer}.`;
}

/** What to expect of a learning rate that is far from the usual; "" for others. */
export function rateAdvice(rate: number, optimizer: string): string {
  const usual = usualRate(optimizer);
  const beside = `${usual} is usual for ${optimizer}.`;
  const most = optimizer === 'adadelta' ? 10 : 50 * usual;
  if (rate > most) {
    return `${rate} is a large learning rate: each step may leap over what it looks for, and the loss grow until it is no number. ${beside}`;
  }
  if (rate < usual / 1000) {
    return `${rate} is a small learning rate: the weights will hardly move in these epochs. ${beside}`;
  }
  return '';
}
