// Time per layer as bars, measured when a person asks for it.
import { box, button, make, milliseconds, show, showProblem } from '../dom';
import { prefixTimes, timedBatch } from '../layer_times';
import { isRow, isSound } from '../network';
import { state, update, watch } from '../store';

const how =
  'A layer’s time is that of the layers up to it less that of the layers before it, each row of ' +
  'layers compiled alone. In the whole network neighbours are often one loop, so the parts are a guide.';

function showTimes(names: readonly string[], totals: readonly number[]): void {
  const own = totals.map((total, at) => Math.max(0, total - (totals[at - 1] ?? 0)));
  const most = Math.max(...own);
  const rows = own.map((ms, at) => {
    const bar = make('i');
    bar.style.width = `${(100 * ms) / (most || 1)}%`;
    return make(
      'tr',
      {},
      make('th', { scope: 'row' }, names[at]!),
      make('td', { className: 'bar-cell' }, bar),
      make('td', { className: 'number' }, ms < most / 1000 ? '≈ 0' : milliseconds(ms)),
    );
  });
  const caption = make('caption', {}, 'Forward pass by layer');
  box('times').replaceChildren(
    make('table', { className: 'times' }, caption, make('tbody', {}, ...rows)),
  );
  const total = milliseconds(totals.at(-1)!);
  show('time-text', `Forward, ${timedBatch} examples, one thread: ${total} in all. ${how}`);
}

async function measure(): Promise<void> {
  const { network, checked, data, status } = state;
  if (data === undefined || !isSound(checked) || !isRow(network)) return;
  showProblem('time-problem', undefined);
  update({ phase: 'busy', status: 'Measuring …' });
  try {
    const totals = await prefixTimes(network.layers, data, (share) =>
      show('time-text', `Measuring, ${Math.round(100 * share)} %`),
    );
    showTimes(
      checked.layers.map(({ class: name }, at) => `${at + 1} ${name}`),
      totals,
    );
  } catch (error) {
    show('time-text', '');
    showProblem('time-problem', error);
  } finally {
    update({ phase: 'idle', status });
  }
}

export function openTime(): void {
  button('measure').addEventListener('click', () => void measure());
  watch(['phase', 'checked', 'network'], () => {
    const canMeasure = isRow(state.network) && isSound(state.checked);
    button('measure').disabled = state.phase !== 'idle' || !canMeasure;
  });
  watch(['network'], () => {
    box('times').replaceChildren();
    const isList = isRow(state.network);
    show('time-text', isList ? '' : 'Layers are timed where they stand in a row, not in a graph.');
  });
}
