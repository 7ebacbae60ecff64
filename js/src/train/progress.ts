/** Progress of training in lines: epoch, batches, scores, time left. */
import { terminal } from '../base/terminal.js';
import type { Logs, Params, TrainingCallbacks } from './history.js';

const width = 20;
/** Milliseconds between two versions of a line. */
const interval = 100;

/** "3.2 s", "4 min 10 s", "2 h 5 min". */
export function duration(seconds: number): string {
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${whole % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

const short = (value: number) => (Number.isFinite(value) ? Number(value.toPrecision(4)) : value);

/** "loss 0.2341  acc 0.93  val_loss 0.31": the scores of logs, those of the training first. */
function scoresOf(logs: Logs): string {
  const isValidation = ([name]: [string, unknown]) => Number(name.startsWith('val_'));
  return Object.entries(logs)
    .sort((a, b) => isValidation(a) - isValidation(b))
    .filter(
      ([name, value]) => typeof value === 'number' && !/^(batch|size|imagesPerSecond)$/.test(name),
    )
    .map(([name, value]) => `${name} ${short(value as number)}`)
    .join('  ');
}

/** A callback that prints: with 1 a line that is rewritten, where that is possible, else a line an epoch. */
export function progress(verbose = 1): TrainingCallbacks<unknown> {
  const stream = terminal();
  const isLine = verbose === 1 && stream?.isTTY === true;
  let params: Params = {};
  let [epoch, batch, steps] = [0, 0, 0];
  let [begin, epochBegin, shown] = [0, 0, 0];
  const head = () => `epoch ${epoch + 1}/${params.epochs}`;
  const rewrite = (line: string) =>
    stream!.write(`\r\x1b[K${line.slice(0, (stream!.columns || 80) - 1)}`);
  return {
    setParams(all) {
      params = all;
      const { samples, batchSize } = all;
      steps = all.steps ?? (samples && batchSize ? Math.ceil(samples / batchSize) : 0);
    },
    onTrainBegin() {
      begin = performance.now();
    },
    onEpochBegin(index) {
      [epoch, batch, epochBegin] = [index, 0, performance.now()];
    },
    ...(isLine && {
      onCompileBegin: () => rewrite('compiling …'),
      onCompileEnd: () => rewrite(''),
      onBatchEnd(_: number, logs: Logs) {
        batch += 1;
        const now = performance.now();
        if (now - shown < interval) return;
        shown = now;
        const share = steps > 0 ? batch / steps : 0;
        const first = params.initialEpoch ?? 0;
        const done = (epoch - first + share) / Math.max((params.epochs ?? 1) - first, 1);
        const filled = Math.round(share * width);
        const bar = steps > 0 ? `  ${'━'.repeat(filled)}${'─'.repeat(width - filled)}` : '';
        const count = `  ${batch}${steps > 0 ? `/${steps}` : ''}`;
        const left =
          done > 0 && steps > 0
            ? `  ${duration(((now - begin) / 1000) * (1 / done - 1))} left`
            : '';
        rewrite(`${head()}${bar}${count}${left}  ${scoresOf(logs)}`);
      },
    }),
    onEpochEnd(_, logs) {
      const time = duration((performance.now() - epochBegin) / 1000);
      const line = `${head()}  ${time}  ${scoresOf(logs)}`;
      if (isLine) stream.write(`\r\x1b[K${line}\n`);
      else console.log(line);
    },
    onTrainEnd() {
      if (isLine) rewrite('');
    },
  };
}
