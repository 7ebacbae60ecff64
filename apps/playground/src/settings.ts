// Validation of settings, and advice on unusual ones.
import type { SettingName } from './store';
import { tables } from './tables';

/** Integer settings: display name and maximum. */
const counts: Partial<Record<SettingName, [name: string, max: number]>> = {
  batchSize: ['Batch size', 4096],
  epochs: ['Epochs', 10000],
  batchesInMemory: ['Batches in memory', 100000],
  testSize: ['Test size', 4096],
  predictSize: ['Prediction size', 4096],
};

/** The default learning rate of an optimizer. */
export function usualRate(optimizer: string): number {
  const row = tables().optimizers.find(({ name }) => name === optimizer);
  const rate = row?.parameters.find(({ name }) => name === 'learningRate')?.default;
  return Number(rate ?? 0.001);
}

/** The error of an entered number, if it is invalid. */
export function problemOf(key: SettingName, value: number, optimizer: string): string | undefined {
  const found = counts[key];
  if (found !== undefined) {
    const [name, max] = found;
    const isRight = Number.isInteger(value) && value >= 1 && value <= max;
    return isRight ? undefined : `${name}: it must be an integer from 1 to ${max}.`;
  }
  if (value > 0 && Number.isFinite(value)) return undefined;
  const why =
    value === 0
      ? 'with 0 the weights never move'
      : value < 0
        ? 'below 0 the network would unlearn'
        : 'it determines how far each step moves the weights';
  return `Learning rate: it must be a number above 0; ${why}. Try ${usualRate(optimizer)}, usual for ${optimizer}.`;
}

/** Advice on a learning rate that is far from the default; otherwise "". */
export function rateAdvice(rate: number, optimizer: string): string {
  const usual = usualRate(optimizer);
  const hint = `${usual} is usual for ${optimizer}.`;
  const max = optimizer === 'adadelta' ? 10 : 50 * usual;
  if (rate > max) {
    return `${rate} is a large learning rate: each step may leap over what it looks for, and the loss grow until it is no number. ${hint}`;
  }
  if (rate < usual / 1000) {
    return `${rate} is a small learning rate: the weights will hardly move in these epochs. ${hint}`;
  }
  return '';
}
