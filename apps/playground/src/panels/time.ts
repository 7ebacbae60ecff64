// Time per layer as bars, measured on demand, and the code of each layer.
import { box, button, make, milliseconds, show, showProblem } from '../dom';
import { type Measured, measureLayers, phases } from '../layer_times';
import { isSound } from '../network';
import { state, update, watch } from '../store';

const introduction = box('time-text').textContent;

function showTimes({ layers, steps, batch }: Measured): void {
  const totalOf = (layer: Measured['layers'][number]) =>
    phases.reduce((sum, phase) => sum + layer[phase], 0);
  const longest = Math.max(...layers.map(totalOf));
  const number = (ms: number, className = '') =>
    make('td', { className: `number ${className}` }, ms < longest / 10000 ? '0' : milliseconds(ms));
  const rows = layers.map((layer) => {
    const bars = phases.map((phase) => {
      const bar = make('i', { className: phase });
      bar.style.width = `${(100 * layer[phase]) / (longest || 1)}%`;
      return bar;
    });
    const row = make(
      'tr',
      {},
      make('th', { scope: 'row' }, make('button', { type: 'button' }, layer.name)),
      make('td', { className: 'bar-cell' }, ...bars),
      ...phases.map((phase) => number(layer[phase], 'wide')),
      number(totalOf(layer)),
    );
    row.dataset.layer = layer.name;
    return row;
  });
  const head = (text: string, className = '') => make('th', { scope: 'col', className }, text);
  const heads = phases.map((phase) =>
    make('th', { scope: 'col', className: 'number wide' }, make('i', { className: phase }), phase),
  );
  const top = make(
    'tr',
    {},
    head('layer'),
    make('td', { className: 'bar-cell' }),
    ...heads,
    head('in all', 'number'),
  );
  const table = make(
    'table',
    { className: 'times' },
    make('thead', {}, top),
    make('tbody', {}, ...rows),
  );
  box('times').replaceChildren(table);
  const all = layers.reduce((sum, layer) => sum + totalOf(layer), 0);
  show(
    'time-text',
    `A training step of ${batch} examples: ${milliseconds(all)} on one thread, means of ${steps} ` +
      'steps of a copy whose module has timers. If layers share a loop, its time is attributed to one of them.',
  );
}

async function measure(): Promise<void> {
  const { network, checked, data, settings, status } = state;
  if (data === undefined || !isSound(checked)) return;
  showProblem('time-problem', undefined);
  update({ phase: 'busy', status: 'Measuring …' });
  try {
    const measured = await measureLayers(network, data, settings, (share) =>
      show('time-text', `Measuring, ${Math.round(100 * share)} %`),
    );
    const { showInside } = await import('./inside');
    showTimes(measured);
    showInside(measured);
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
    button('measure').disabled = state.phase !== 'idle' || !isSound(state.checked);
  });
  watch(['network'], () => {
    box('times').replaceChildren();
    box('inside').hidden = true;
    show('time-text', introduction);
  });
}
