// Explains in plain words what happens before, during and after training.
import { button, show, formatInteger } from '../dom';
import { isImage } from '../data/data_set';
import { isSound } from '../network';
import { isTraining, state, watch } from '../store';
import { listen, stepsPerEpoch } from '../training';

let steps = 0;

const examples = () => (state.data !== undefined && isImage(state.data) ? 'images' : 'examples');

/** The result of the last validation, for classes. */
function verdict(): string {
  const { confusion, data } = state;
  if (confusion === undefined || data?.classes === undefined) return '';
  const right = confusion.reduce((sum, row, at) => sum + row[at]!, 0);
  const all = confusion.flat().reduce((sum, count) => sum + count, 0);
  return ` It is right about ${formatInteger(right)} of ${formatInteger(all)} ${examples()} that it was not trained on.`;
}

function story(): string {
  const { data, checked, trained, settings } = state;
  if (data === undefined || !isSound(checked)) return '';
  const batch = Math.min(settings.batchSize, data.train.count);
  if (isTraining()) {
    return (
      `Step ${formatInteger(steps)}: it looks at ${batch} ${examples()}, compares its guesses with what they are, ` +
      `and moves each of its ${formatInteger(checked.params)} weights a little, so that it errs less.`
    );
  }
  if (trained === undefined || (steps === 0 && !trained.isLoaded)) {
    return (
      `A network is ${formatInteger(checked.params)} numbers, its weights. They begin at random, so it can only guess. ` +
      `Train shows it ${formatInteger(data.train.count)} ${examples()}, ${batch} at a time.`
    );
  }
  const learned =
    steps === 0 ? 'Its weights are loaded.' : `It has learned in ${formatInteger(steps)} steps.`;
  return (
    `${learned}${verdict()} Further down: where it errs, what its weights look like, and the ` +
    'program that this page wrote for it.'
  );
}

const showStory = () => show('story', story());

export function openStory(): void {
  listen({
    onPoint(kind, { epoch }) {
      if (kind === 'training') steps = Math.round(epoch * stepsPerEpoch());
    },
    onProgress: showStory,
    onReset() {
      steps = 0;
      showStory();
    },
  });
  button('open-tour').addEventListener('click', async () => {
    const { beginTour } = await import('./tour');
    beginTour();
  });
  watch(['data'], () => (button('open-tour').disabled = state.data === undefined));
  watch(['phase', 'data', 'checked', 'trained', 'confusion'], showStory);
}
