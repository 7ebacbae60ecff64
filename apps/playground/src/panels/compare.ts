// The comparison with TensorFlow.js: time per step and loss side by side.
import { compare, type Comparison, type Step } from '../comparison';
import {
  box,
  button,
  input,
  make,
  messageOf,
  milliseconds,
  select,
  show,
  showProblem,
  formatInteger,
} from '../dom';
import { isSound } from '../network';
import { isCurrent, state, update, watch } from '../store';
import { draw, marks } from './scatter';

let running: AbortController | undefined;

const median = (values: readonly number[]) =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;

/** The largest difference of the losses, relative to the larger one. */
const largestDifference = (steps: readonly Step[]) =>
  Math.max(
    ...steps.map(
      ({ ourLoss, theirLoss }) =>
        Math.abs(ourLoss - theirLoss) / Math.max(Math.abs(ourLoss), Math.abs(theirLoss), 1e-12),
    ),
  );

/** Both losses over the steps. */
function lossPlot(steps: readonly Step[]): SVGElement {
  const [width, height, left, bottom, top] = [480, 200, 44, 34, 12];
  const all = steps
    .flatMap(({ ourLoss, theirLoss }) => [ourLoss, theirLoss])
    .filter(Number.isFinite);
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const x = (step: number) => left + ((width - left - 10) * step) / Math.max(steps.length - 1, 1);
  const y = (loss: number) =>
    height - bottom - ((height - bottom - top) * (loss - low)) / (high - low || 1);
  const path = (key: 'ourLoss' | 'theirLoss') =>
    steps
      .map((step, at) => `${at === 0 ? 'M' : 'L'}${x(at).toFixed(1)} ${y(step[key]).toFixed(1)}`)
      .join('');
  const made = draw('svg', {
    viewBox: `0 0 ${width} ${height}`,
    class: 'losses',
    role: 'img',
    'aria-label': 'Loss of both over the steps',
  });
  for (const mark of marks(low, high)) {
    made.append(
      draw('line', { class: 'grid-line', x1: left, x2: width - 10, y1: y(mark), y2: y(mark) }),
      draw('text', { x: left - 6, y: y(mark) + 4, 'text-anchor': 'end' }, String(mark)),
    );
  }
  made.append(
    draw('text', { x: left, y: height - 10 }, '1'),
    draw('text', { x: width - 10, y: height - 10, 'text-anchor': 'end' }, String(steps.length)),
    draw('text', { x: (left + width) / 2, y: height - 10, 'text-anchor': 'middle' }, 'step'),
    draw('path', { class: 'theirs', d: path('theirLoss') }),
    draw('path', { class: 'ours', d: path('ourLoss') }),
  );
  return made;
}

const threadsText = (count: number) => (count === 1 ? 'one thread' : `${count} threads`);

const theirName = ({ version, backend }: Comparison) => `TensorFlow.js ${version}, ${backend}`;

/** Time of one step of both as bars; the longer one has the full width. */
function timeBars(result: Comparison, ours: number, theirs: number): HTMLElement {
  const longest = Math.max(ours, theirs);
  const bar = (name: string, ms: number, className: string) => {
    const line = make('i', { className });
    line.style.width = `${(100 * ms) / longest}%`;
    const time = make('b', {}, milliseconds(ms));
    return make('li', {}, make('span', {}, name), make('div', {}, line), time);
  };
  return make(
    'ol',
    { className: 'step-bars', ariaLabel: 'Time per step' },
    bar(`Tensorlathe, ${threadsText(result.threads)}`, ours, 'ours'),
    bar(theirName(result), theirs, 'theirs'),
  );
}

/** Medians of both, side by side. */
function resultTable(result: Comparison, batch: number): HTMLElement {
  const { steps, threads } = result;
  const batches = Math.ceil(state.data!.train.count / batch);
  const cell = (text: string, className = '') =>
    make('td', { className: `number ${className}` }, text);
  const row = (name: string, key: 'our' | 'their') => {
    const ms = median(steps.map((step) => step[`${key}Ms`]));
    return make(
      'tr',
      {},
      make('th', { scope: 'row' }, name),
      cell(formatInteger((1000 * batch) / ms), 'rate'),
      cell(milliseconds(ms * batches)),
      cell(steps.at(-1)![`${key}Loss`].toPrecision(6)),
    );
  };
  const head = (text: string, className = '') => make('th', { scope: 'col', className }, text);
  const heads = [head('Library'), head('Examples/s', 'rate'), head('Per epoch'), head('Last loss')];
  return make(
    'table',
    { className: 'comparison' },
    make('thead', {}, make('tr', {}, ...heads)),
    make(
      'tbody',
      {},
      row(`Tensorlathe on ${threadsText(threads)}`, 'our'),
      row(theirName(result), 'their'),
    ),
  );
}

/** Which one is faster, on which backend, and what limits the comparison. */
function headline(
  { threads, theirThreads, softwareGl, backend, tried }: Comparison,
  ratio: number,
): string {
  const faster = ratio >= 1;
  const factor = Number((faster ? ratio : 1 / ratio).toPrecision(2));
  const which = tried === undefined ? backend : `${backend}, its fastest backend for this network`;
  const verdict = `${factor} × ${faster ? 'as fast as' : 'slower than'} TensorFlow.js on ${which}`;
  const uneven = [
    theirThreads !== undefined && threads !== theirThreads
      ? `${threadsText(threads)} here, ${threadsText(theirThreads)} there`
      : undefined,
    softwareGl === undefined
      ? undefined
      : 'its WebGL runs on the processor here, far slower than on a graphics device',
  ].filter((each) => each !== undefined);
  return uneven.length === 0 ? `${verdict}.` : `${verdict}, but uneven: ${uneven.join('; ')}.`;
}

function showResult(result: Comparison): void {
  const { steps } = result;
  if (steps.length === 0) return show('compare-text', 'Stopped before the first step that counts.');
  const batch = Math.min(state.settings.batchSize, state.data!.train.count);
  const medianOf = (key: 'ourMs' | 'theirMs') => median(steps.map((step) => step[key]));
  const legend = make('p', { className: 'legend' });
  legend.append(make('i'), 'Tensorlathe ', make('i', { className: 'train' }), 'TensorFlow.js');
  const [ours, theirs] = [medianOf('ourMs'), medianOf('theirMs')];
  const bars = timeBars(result, ours, theirs);
  const title = make('p', { className: 'headline' }, headline(result, theirs / ours));
  const table = resultTable(result, batch);
  box('compare-result').replaceChildren(
    make('div', {}, title, bars, table),
    make('div', {}, legend, lossPlot(steps)),
  );
  const difference = (100 * largestDifference(steps)).toPrecision(2);
  show(
    'compare-text',
    `${steps.length} steps of ${batch} examples, medians. The losses differ by up to ${Number(difference)} %.${chance()}${trials(result)}`,
  );
}

/** Its backends, slowest last. */
function trials({ tried }: Comparison): string {
  if (tried === undefined) return '';
  const times = Object.entries(tried).sort(([, a], [, b]) => a - b);
  const list = times.map(([name, ms]) => `${name} ${milliseconds(ms)}`).join(', ');
  return ` Its backends, a step each: ${list}.`;
}

/** Random layers draw other numbers in each. */
function chance(): string {
  const isRandom = state.checked?.layers.some((layer) => /Dropout|Noise/.test(layer.class));
  return isRandom ? ' The network drops or adds noise by chance, which differs.' : '';
}

async function run(): Promise<void> {
  const { data, network, checked, settings, status, trained } = state;
  if (data === undefined || !isSound(checked)) return;
  const control = input('compare-steps');
  if (!control.reportValidity()) return;
  showProblem('compare-problem', undefined);
  running = new AbortController();
  update({ phase: 'busy', status: 'Comparing …' });
  show('compare-text', 'Loading TensorFlow.js …');
  const steps = control.valueAsNumber;
  try {
    const weights = isCurrent() ? trained!.model.getWeights() : undefined;
    const result = await compare(network, data, settings, weights, {
      backend: select('backend').value,
      steps,
      signal: running.signal,
      onStep: (step) => show('compare-text', `Step ${step} of ${steps}`),
    });
    showResult(result);
  } catch (error) {
    show('compare-text', '');
    showProblem('compare-problem', `No comparison: ${messageOf(error)}`);
  } finally {
    running = undefined;
    update({ phase: 'idle', status });
  }
}

export function openCompare(): void {
  button('run-compare').addEventListener('click', () => {
    if (running === undefined) void run();
    else running.abort();
  });
  watch(['phase', 'checked'], () => {
    const canRun = state.phase === 'idle' && isSound(state.checked);
    button('run-compare').disabled = running === undefined && !canRun;
    show('run-compare', running === undefined ? 'Compare' : 'Stop');
  });
}
