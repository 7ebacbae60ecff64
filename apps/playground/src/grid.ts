// A grid of test digits with what the network takes them for; wrong ones are marked.
import { element, show } from './dom';
import type { Digits } from './data';
import { paint } from './paint';

export const shown = 48;

const grid = element('grid', HTMLUListElement);

/** Shows the first digits, without predictions. */
export function showDigits({ images, labels, count }: Digits): void {
  const items = Array.from({ length: Math.min(shown, count) }, (_, at) => {
    const item = document.createElement('li');
    const picture = document.createElement('canvas');
    picture.width = picture.height = 28;
    paint(picture, images.subarray(at * 784, (at + 1) * 784));
    const text = document.createElement('span');
    text.textContent = '?';
    item.append(picture, text);
    item.dataset.label = String(labels[at]);
    item.ariaLabel = `a ${labels[at]}, not yet classified`;
    return item;
  });
  grid.replaceChildren(...items);
  show('digits-hint', 'Predictions appear as the network learns.');
}

/** Writes the predicted classes below the digits. */
export function showPredictions(classes: number[]): void {
  let wrong = 0;
  [...grid.children].forEach((item, at) => {
    if (!(item instanceof HTMLLIElement)) return;
    const { label } = item.dataset;
    const isWrong = String(classes[at]) !== label;
    if (isWrong) ++wrong;
    item.classList.toggle('wrong', isWrong);
    item.ariaLabel = `a ${label}, taken for a ${classes[at]}${isWrong ? ', wrong' : ''}`;
    item.querySelector('span')!.textContent = isWrong
      ? `${label} → ${classes[at]}`
      : `${classes[at]}`;
  });
  show(
    'digits-hint',
    `${grid.children.length - wrong} of these ${grid.children.length} are right.`,
  );
}
