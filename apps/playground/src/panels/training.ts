// The form of the training, its buttons, and the numbers of the moment.
import {
  button,
  element,
  fillSelect,
  input,
  milliseconds,
  percent,
  select,
  show,
  showProblem,
  spellLoss,
  whole,
} from '../dom';
import { isSound } from '../network';
import { isCurrent, isTraining, type Settings, state, update, watch } from '../store';
import { tables } from '../tables';
import { forget, listen, pause, SettingError, stop, train } from '../training';

const numbers = {
  learningRate: 'learning-rate',
  batchSize: 'batch-size',
  epochs: 'epochs',
} as const;
const problems = ['loss', 'optimizer', 'training'] as const;

function showSettings(): void {
  const { settings } = state;
  select('loss').value = settings.loss;
  select('optimizer').value = settings.optimizer;
  for (const [key, id] of Object.entries(numbers)) {
    const value = String(settings[key as keyof typeof numbers]);
    if (document.activeElement !== input(id)) input(id).value = value;
  }
}

/** Takes a number if it is one that can be; else says beside it why not. */
function readNumber(key: keyof typeof numbers): boolean {
  const control = input(numbers[key]);
  const isRight = control.checkValidity();
  control.ariaInvalid = String(!isRight);
  const problem = isRight
    ? undefined
    : `${control.labels![0]!.textContent!.trim()}: ${control.validationMessage}`;
  showProblem(`${numbers[key]}-problem`, problem);
  if (isRight) set({ [key]: control.valueAsNumber });
  return isRight;
}

const set = (changes: Partial<Settings>) => update({ settings: { ...state.settings, ...changes } });

function chooseOptimizer(optimizer: string): void {
  const row = tables().optimizers.find(({ name }) => name === optimizer);
  const rate = row?.parameters.find(({ name }) => name === 'learningRate')?.default;
  set({ optimizer, learningRate: Number(rate ?? state.settings.learningRate) });
}

function showPhase(): void {
  const { phase, status, trained, checked, data } = state;
  const trains = isTraining();
  show('status', status);
  const isReady = data !== undefined && isSound(checked) && phase === 'idle';
  button('start').disabled = !isReady;
  show('start', trained === undefined ? 'Train' : isCurrent() ? 'Train on' : 'Train anew');
  button('pause').disabled = !trains;
  show('pause', phase === 'paused' ? 'Go on' : 'Pause');
  button('stop').disabled = !trains;
  button('reset').disabled = trains || trained === undefined;
  for (const id of ['loss', 'optimizer']) select(id).disabled = trains;
  const isStale = trained !== undefined && !isCurrent();
  show(
    'network-text',
    [
      checked === undefined || !isSound(checked) ? '' : `${whole(checked.params)} weights in all.`,
      isStale ? 'Changed since the training: training anew begins with new weights.' : '',
    ].join(' '),
  );
  showProblem('network-problem', checked?.problem);
}

async function begin(): Promise<void> {
  const areRight = (Object.keys(numbers) as (keyof typeof numbers)[]).map(readNumber);
  if (areRight.includes(false)) return;
  for (const part of problems) showProblem(`${part}-problem`, undefined);
  try {
    await train();
  } catch (error) {
    const part = error instanceof SettingError ? error.part : 'training';
    showProblem(`${part}-problem`, error);
  }
}

/** The number beside the loss: accuracy, or for values the validation loss. */
function showScore(loss: number, accuracy: number | undefined): void {
  show('score', accuracy === undefined ? spellLoss(loss) : percent(accuracy));
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
  for (const key of Object.keys(numbers) as (keyof typeof numbers)[]) {
    input(numbers[key]).addEventListener('change', () => {
      if (readNumber(key) && key === 'learningRate' && isTraining()) {
        state.trained?.model.setLearningRate(state.settings.learningRate);
      }
    });
  }
  element('settings', HTMLFormElement).addEventListener('submit', (event) =>
    event.preventDefault(),
  );
  button('start').addEventListener('click', () => void begin());
  button('pause').addEventListener('click', () => pause(state.phase !== 'paused'));
  button('stop').addEventListener('click', stop);
  button('reset').addEventListener('click', forget);
  const progress = element('progress', HTMLProgressElement);
  listen({
    onPoint(kind, { loss, accuracy }) {
      if (kind === 'validation') showScore(loss, accuracy);
    },
    onProgress({ share, loss, speed, batchMs }) {
      progress.value = share;
      show('loss-value', spellLoss(loss));
      show('speed', whole(speed));
      show('batch-time', milliseconds(batchMs));
    },
    onReset() {
      progress.value = 0;
      for (const id of ['loss-value', 'score', 'speed', 'batch-time']) show(id, '–');
    },
  });
  watch(['settings'], showSettings);
  watch(['data'], () => {
    const isClasses = state.data?.classes !== undefined;
    show('score-name', isClasses ? 'Validation accuracy' : 'Validation loss');
  });
  watch(['phase', 'status', 'trained', 'checked', 'data', 'network'], showPhase);
  watch(['phase'], () => {
    if (state.phase === 'idle' && state.trained !== undefined) progress.value = 1;
  });
  watch(['network'], () => {
    for (const part of problems) showProblem(`${part}-problem`, undefined);
  });
  showSettings();
}
