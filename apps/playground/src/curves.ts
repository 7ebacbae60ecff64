// Two plots over epochs, loss and accuracy, each with a line for training and one for test digits.
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { element, theme } from './dom';

type Series = (number | null)[];

/** One plot that keeps its points and fits its box. */
class Plot {
  #data: [number[], Series, Series] = [[], [], []];
  #plot: uPlot;

  constructor(id: string, spell: (value: number) => string) {
    const box = element(id, HTMLDivElement);
    const axis = {
      stroke: theme('--muted'),
      grid: { stroke: theme('--line'), width: 1 },
      ticks: { show: false },
      font: '12px system-ui',
    };
    this.#plot = new uPlot(
      {
        ...size(box),
        legend: { show: false },
        cursor: { show: false },
        scales: { x: { time: false } },
        axes: [
          {
            ...axis,
            size: 28,
            values: (_, marks) => marks.map((mark) => (mark % 1 === 0 ? `${mark}` : '')),
          },
          { ...axis, size: 52, values: (_, marks) => marks.map(spell) },
        ],
        series: [
          {},
          { stroke: theme('--train'), width: 1.5, points: { show: false }, spanGaps: true },
          { stroke: theme('--test'), width: 2, points: { size: 6 }, spanGaps: true },
        ],
      },
      this.#data,
      box,
    );
    new ResizeObserver(() => this.#plot.setSize(size(box))).observe(box);
  }

  add(epoch: number, train: number | null, test: number | null): void {
    this.#data[0].push(epoch);
    this.#data[1].push(train);
    this.#data[2].push(test);
  }

  draw(): void {
    this.#plot.setData(this.#data);
  }

  clear(): void {
    this.#data = [[], [], []];
    this.draw();
  }
}

function size(box: HTMLElement): { width: number; height: number } {
  return { width: Math.max(box.clientWidth, 120), height: 190 };
}

const loss = new Plot('loss-plot', (value) => value.toPrecision(3));
const accuracy = new Plot('accuracy-plot', (value) => `${+(100 * value).toFixed(1)} %`);

/** Adds a point of the training digits. */
export function addTraining(epoch: number, lossValue: number, accuracyValue: number): void {
  loss.add(epoch, lossValue, null);
  accuracy.add(epoch, accuracyValue, null);
}

/** Adds a point of the test digits. */
export function addTest(epoch: number, lossValue: number, accuracyValue: number): void {
  loss.add(epoch, null, lossValue);
  accuracy.add(epoch, null, accuracyValue);
}

/** Shows what has been added. */
export function drawCurves(): void {
  loss.draw();
  accuracy.draw();
}

/** Forgets all points. */
export function clearCurves(): void {
  loss.clear();
  accuracy.clear();
}
