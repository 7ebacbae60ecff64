// The messages about files: a new file clears those of the files before it.
import { box, showProblem } from '../dom';

const problems = ['data-problem', 'saving-problem', 'training-problem', 'inspect-problem'];
const others = ['error', 'table-faults', 'header-question'];

export function clearFileProblems(): void {
  for (const id of problems) showProblem(id, undefined);
  for (const id of others) box(id).hidden = true;
}
