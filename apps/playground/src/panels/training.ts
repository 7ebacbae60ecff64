// The form of the training, its buttons, and the numbers of the moment.
import {
  box,
  button,
  element,
  fillSelect,
  input,
  milliseconds,
  percent,
  select,
  show,
  showProblem,
  formatLoss,
  formatInteger,
} from '../dom';
import { isSound } from '../network';
import { obstacles, statusText } from '../readiness';
import { isCurrent, isTraining, type Settings, state, update, watch } from '../store';
import { problemOf, rateAdvice, usualRate } from '../settings';
import { tables } from '../tables';
import { discardModel, hasSimd, listen, pause, SettingError, stop, train } from '../training';

const numbers = {
  learningRate: 'learning-rate',
  batchSize: 'batch-size',
  epochs: 'epochs',
  batchesInMemory: 'batches-in-memory',
  testSize: 'test-size',
  predictSize: 'predict-size',
} as const;
const keys = Object.keys(numbers) as (keyof typeof numbers)[];
const problems = ['loss', 'optimizer', 'training'] as const;

function showSettings(): void {
  const { settings, settingProblems } = state;
  select('loss').value = settings.loss;
  select('optimizer').value = settings.optimizer;
  for (const key of keys) {
    const control = input(numbers[key]);
    const problem = settingProblems[key];
    control.ariaInvalid = String(problem !== undefined);
    showProblem(`${numbers[key]}-problem`, problem);
    const isEditing = problem !== undefined || document.activeElement === control;
    if (!isEditing) control.value = String(settings[key]);
  }
  input('simd').checked = settings.simd && hasSimd;
  const isAccepted = settingProblems.learningRate === undefined;
  const advice = rateAdvice(settings.learningRate, settings.optimizer);
  show('learning-rate-advice', isAccepted ? advice : '');
}

/** Applies an entered number if it is valid; otherwise displays the error next to it and next to Train. */
function readNumber(key: keyof typeof numbers): boolean {
  const control = input(numbers[key]);
  const value = control.valueAsNumber;
  const problem = problemOf(key, value, state.settings.optimizer);
  const { [key]: _, ...others } = state.settingProblems;
  update({ settingProblems: problem === undefined ? others : { ...others, [key]: problem } });
  if (problem === undefined) set({ [key]: value });
  return problem === undefined;
}

const set = (changes: Partial<Settings>) => update({ settings: { ...state.settings, ...changes } });

function chooseOptimizer(optimizer: string): void {
  const { learningRate: _, ...settingProblems } = state.settingProblems;
  update({ settingProblems });
  set({ optimizer, learningRate: usualRate(optimizer) });
}

/** Moves the focus from a button that was disabled to its replacement. */
function restoreFocus(focused: Element | null): void {
  const [start, pause, stop] = [button('start'), button('pause'), button('stop')];
  if (focused === start && isTraining()) pause.focus();
  if ((focused === pause || focused === stop) && pause.disabled) start.focus();
}

function showPhase(): void {
  const focused = document.activeElement;
  const { phase, trained, checked } = state;
  const trains = isTraining();
  const isBlocked = obstacles().length > 0;
  show('status', statusText());
  box('status').classList.toggle('blocked', isBlocked && phase === 'idle');
  button('start').disabled = trains || isBlocked;
  show('start', trained === undefined ? 'Train' : isCurrent() ? 'Continue' : 'Train anew');
  button('pause').disabled = !trains;
  show('pause', phase === 'paused' ? 'Resume' : 'Pause');
  button('stop').disabled = !trains;
  button('reset').disabled = trains || trained === undefined;
  for (const id of ['loss', 'optimizer']) select(id).disabled = trains;
  input('simd').disabled = trains || !hasSimd;
  restoreFocus(focused);
  const isStale = trained !== undefined && !isCurrent();
  show(
    'network-text',
    [
      checked === undefined || !isSound(checked)
        ? ''
        : `${formatInteger(checked.params)} weights in all.`,
      isStale ? 'Changed since the training: training anew begins with new weights.' : '',
    ].join(' '),
  );
  showProblem('network-problem', checked?.problem);
}

/** Trains with the settings of the form; errors are displayed at their cause. */
export async function begin(): Promise<void> {
  for (const part of problems) showProblem(`${part}-problem`, undefined);
  try {
    await train();
  } catch (error) {
    const part = error instanceof SettingError ? error.part : 'training';
    showProblem(`${part}-problem`, error);
  }
}

/** The number next to the loss: accuracy, or for values the validation loss. */
function showScore(loss: number, accuracy: number | undefined): void {
  show('score', accuracy === undefined ? formatLoss(loss) : percent(accuracy));
}

export function openTraining(): void {
  fillSelect(
    select('loss'),
    tables().losses.map(({ name }) => name),
  );
  fillSelect(
    select('optimizer'),
    tables().optimizers.map(({ name }) => name),
  );
  select('loss').addEventListener('change', () => {
    showProblem('loss-problem', undefined);
    set({ loss: select('loss').value });
  });
  select('optimizer').addEventListener('change', () => chooseOptimizer(select('optimizer').value));
  for (const key of keys) {
    input(numbers[key]).addEventListener('change', () => {
      if (readNumber(key) && key === 'learningRate' && isTraining()) {
        state.trained?.model.setLearningRate(state.settings.learningRate);
      }
    });
  }
  input('simd').addEventListener('change', () => set({ simd: input('simd').checked }));
  element('settings', HTMLFormElement).addEventListener('submit', (event) =>
    event.preventDefault(),
  );
  button('start').addEventListener('click', () => void begin());
  button('pause').addEventListener('click', () => pause(state.phase !== 'paused'));
  button('stop').addEventListener('click', stop);
  button('reset').addEventListener('click', discardModel);
  const progress = element('progress', HTMLProgressElement);
  listen({
    onPoint(kind, { loss, accuracy }) {
      if (kind === 'validation') showScore(loss, accuracy);
    },
    onProgress({ share, loss, speed, batchMs }) {
      progress.value = share;
      show('loss-value', formatLoss(loss));
      show('speed', formatInteger(speed));
      show('batch-time', milliseconds(batchMs));
    },
    onReset() {
      progress.value = 0;
      for (const id of ['loss-value', 'score', 'speed', 'batch-time']) show(id, '–');
    },
  });
  watch(['settings', 'settingProblems'], showSettings);
  watch(['data'], () => {
    const isClasses = state.data?.classes !== undefined;
    show('score-name', isClasses ? 'Validation accuracy' : 'Validation loss');
  });
  watch(['phase', 'status', 'trained', 'checked', 'data', 'network', 'settingProblems'], showPhase);
  watch(['phase'], () => {
    if (state.phase === 'idle' && state.trained !== undefined) progress.value = 1;
  });
  watch(['network'], () => {
    for (const part of problems) showProblem(`${part}-problem`, undefined);
  });
  showSettings();
}
