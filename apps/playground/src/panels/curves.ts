// Two plots over epochs, loss and accuracy, each with a line for training and one for validation.
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { box, element, onThemeChange, theme } from '../dom';
import { watch, state } from '../store';
import { listen } from '../training';

type Series = (number | null)[];
/** Pixels, unless the style specifies them. */
const usualHeight = 210;

/** A plot with its points, sized to its container. */
class Plot {
  #data: [number[], Series, Series] = [[0], [null], [null]];
  #last = state.settings.epochs;
  #plot: uPlot;
  #isDue = false;
  readonly #box: HTMLElement;

  constructor(
    id: string,
    private readonly format: (value: number) => string,
    /** The top of the axis where all values are below. */
    private readonly top: number,
  ) {
    this.#box = element(id, HTMLDivElement);
    this.#plot = this.#make();
    new ResizeObserver(() => this.#plot.setSize(this.#size())).observe(this.#box);
    onThemeChange(() => {
      this.#plot.destroy();
      this.#plot = this.#make();
    });
  }

  /** A point of the training, or of the validation; those of one epoch share a column. */
  add(epoch: number, training: number | null, validation: number | null): void {
    const [epochs, ofTraining, ofValidation] = this.#data;
    const last = epochs.length - 1;
    if (epochs[last] === epoch) {
      ofTraining[last] ??= training;
      ofValidation[last] ??= validation;
      return;
    }
    epochs.push(epoch);
    ofTraining.push(training);
    ofValidation.push(validation);
  }

  /** Draws added points in the next animation frame. */
  draw(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    requestAnimationFrame(() => {
      this.#isDue = false;
      this.#plot.setData(this.#data);
    });
  }

  /** The axis goes up to so many epochs, or as far as points do. */
  reach(epochs: number): void {
    this.#last = epochs;
    this.draw();
  }

  /** Removes the points. */
  clear(epochs: number): void {
    this.#data = [[0], [null], [null]];
    this.reach(epochs);
  }

  #size(): { width: number; height: number } {
    const { clientWidth, clientHeight } = this.#box;
    return { width: Math.max(clientWidth, 120), height: clientHeight || usualHeight };
  }

  #make(): uPlot {
    const axis = {
      stroke: theme('--muted'),
      grid: { stroke: theme('--line'), width: 1 },
      ticks: { show: false },
      font: '12px system-ui',
    };
    const integerLabel = (mark: number) => (mark % 1 === 0 ? `${mark}` : '');
    return new uPlot(
      {
        ...this.#size(),
        legend: { show: false },
        cursor: { show: false },
        scales: {
          x: { time: false, range: (_, __, last) => [0, Math.max(last, this.#last)] },
          y: { range: (_, __, max) => [0, Math.max(max ?? 0, this.top)] },
        },
        axes: [
          {
            ...axis,
            size: 28,
            label: 'epoch',
            labelSize: 18,
            labelFont: '12px system-ui',
            values: (_, marks) => marks.map(integerLabel),
          },
          { ...axis, size: 52, values: (_, marks) => marks.map(this.format) },
        ],
        series: [
          {},
          {
            stroke: theme('--train'),
            width: 1.5,
            points: { show: false },
            spanGaps: true,
          },
          { stroke: theme('--accent'), width: 2, points: { size: 6 }, spanGaps: true },
        ],
      },
      this.#data,
      this.#box,
    );
  }
}

export function openCurves(): void {
  const loss = new Plot('loss-plot', (value) => `${+value.toPrecision(3)}`, 0.5);
  const accuracy = new Plot('accuracy-plot', (value) => `${+(100 * value).toFixed(1)} %`, 1);
  const clear = () => {
    loss.clear(state.settings.epochs);
    accuracy.clear(state.settings.epochs);
  };
  listen({
    onPoint(kind, point) {
      const pair = (value: number): [number | null, number | null] =>
        kind === 'training' ? [value, null] : [null, value];
      loss.add(point.epoch, ...pair(point.loss));
      if (point.accuracy !== undefined) accuracy.add(point.epoch, ...pair(point.accuracy));
      loss.draw();
      accuracy.draw();
    },
    onBegin(lastEpoch) {
      loss.reach(lastEpoch);
      accuracy.reach(lastEpoch);
    },
    onReset: clear,
  });
  watch(['settings'], () => {
    if (state.trained === undefined) clear();
  });
  watch(['data'], () => {
    box('accuracy-figure').hidden = state.data?.classes === undefined;
  });
}
