// Files dropped on the page: sends each kind where it belongs.
import { isDigits } from '../data/data_set';
import { box, input, messageOf, showProblem } from '../dom';
import { state } from '../store';
import { clearFileProblems } from './file_problems';
import { useCsvFile, useIdxFiles } from './data';
import { usePhoto } from './draw';
import { classifyPhoto, inspect, takesPhotos } from './inspector';
import { loadFiles } from './saving';

const isModel = ({ name }: File) => /\.(onnx|h5|hdf5|keras)$/i.test(name);
const isPhoto = ({ name, type }: File) =>
  type.startsWith('image/') || /\.(png|jpe?g|webp|gif|avif)$/i.test(name);

/** A photo goes to the open model, or to the network that reads digits. */
async function openPhoto(file: File): Promise<void> {
  if (takesPhotos()) return classifyPhoto(file);
  if (state.data !== undefined && isDigits(state.data)) return usePhoto(file);
  throw new Error('no network here reads images: open a model, or choose Drawn digits');
}

function attempt(file: File, action: (file: File) => Promise<void>): void {
  action(file).catch((error: unknown) =>
    showProblem('data-problem', `${file.name}: ${messageOf(error)}`),
  );
}

function openFiles(files: readonly File[]): void {
  clearFileProblems();
  const [model, photo] = [files.find(isModel), files.find(isPhoto)];
  const csv = files.find(({ name }) => /\.(csv|tsv|txt)$/i.test(name));
  if (files.some(({ name }) => name.endsWith('.json'))) void loadFiles(files);
  else if (model !== undefined) attempt(model, inspect);
  else if (photo !== undefined) attempt(photo, openPhoto);
  else if (csv !== undefined) void useCsvFile(csv);
  else if (files.some(({ name }) => /idx|ubyte|images|labels/i.test(name))) void useIdxFiles(files);
  else {
    const names = files.map(({ name }) => name).join(', ');
    showProblem(
      'data-problem',
      `${names}: neither a .csv file, nor a model (.onnx, .h5, .keras, model.json), nor a photo, nor idx files`,
    );
  }
}

export function openDrop(): void {
  const cover = box('drop');
  for (const id of ['model-file', 'photo-file']) {
    input(id).addEventListener('change', () => {
      const files = [...(input(id).files ?? [])];
      input(id).value = '';
      if (files.length > 0) openFiles(files);
    });
  }
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
