// Files dropped on the page: sends each kind where it belongs.
import { box, showProblem } from '../dom';
import { clearFileProblems } from './file_problems';
import { useCsvFile, useIdxFiles } from './data';
import { loadFiles } from './saving';

function openFiles(files: readonly File[]): void {
  clearFileProblems();
  const csv = files.find(({ name }) => /\.(csv|tsv|txt)$/i.test(name));
  if (files.some(({ name }) => name.endsWith('.json'))) void loadFiles(files);
  else if (csv !== undefined) void useCsvFile(csv);
  else if (files.some(({ name }) => /idx|ubyte|images|labels/i.test(name))) void useIdxFiles(files);
  else {
    const names = files.map(({ name }) => name).join(', ');
    showProblem(
      'data-problem',
      `${names}: neither a .csv file, nor idx files of images and labels, nor a model.json with its weights`,
    );
  }
}

export function openDrop(): void {
  const cover = box('drop');
  const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') === true;
  addEventListener('dragover', (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    cover.hidden = false;
  });
  addEventListener('dragleave', (event) => {
    if (event.relatedTarget === null) cover.hidden = true;
  });
  addEventListener('drop', (event) => {
    cover.hidden = true;
    if (!hasFiles(event)) return;
    event.preventDefault();
    openFiles([...event.dataTransfer!.files]);
  });
}
