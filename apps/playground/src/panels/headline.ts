// The sentence on top, which follows the data.
import { isDigits, isPlane } from '../data/data_set';
import { show } from '../dom';
import { state, watch } from '../store';

function headline(): string {
  const { data } = state;
  if (data === undefined || isDigits(data)) {
    return 'Watch a neural network learn to read handwritten digits. Then draw one.';
  }
  if (isPlane(data)) {
    return `Watch a neural network find the border between ${data.target}. Then point at it.`;
  }
  return `Watch a neural network learn to predict ${data.target} from ${data.source}. Then ask it.`;
}

export const openHeadline = () => watch(['data'], () => show('lead', headline()));
