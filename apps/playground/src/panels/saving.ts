// Saves models in this browser, downloads and uploads them, and displays the generated module.
import * as tl from 'tensorlathe';
import { networkOf } from '../code';
import {
  box,
  button,
  element,
  input,
  kibibytes,
  make,
  makeButton,
  milliseconds,
  messageOf,
  show,
  showProblem,
} from '../dom';
import { change } from '../editing';
import { isTraining, state, update, watch } from '../store';
import { clearFileProblems } from './file_problems';
import { adopt, compile, trainingModule } from '../training';

const scheme = 'indexeddb://';
const inBrowser = (name: string) => `${scheme}playground/${name}`;
const prefix = inBrowser('');

/** Displays an error of saving or loading, after which nothing has changed. */
async function attempt(what: string, action: () => Promise<string>): Promise<void> {
  showProblem('saving-problem', undefined);
  show('saving-text', '');
  try {
    show('saving-text', await action());
  } catch (error) {
    showProblem('saving-problem', `${what}: ${messageOf(error)}`);
  }
  await showSaved().catch(() => undefined);
}

function chosenName(): string {
  const control = input('model-name');
  const name = control.value.trim();
  control.ariaInvalid = String(name === '');
  if (name === '') throw new Error('enter a name for the model first');
  return name;
}

const save = () =>
  attempt('Not saved', async () => {
    const name = chosenName();
    await state.trained!.model.save(inBrowser(name), { includeOptimizer: true });
    return `Saved as “${name}”.`;
  });

const downloadModel = () =>
  attempt('Not downloaded', async () => {
    const name = chosenName();
    await state.trained!.model.save(`downloads://${name}`);
    return `Downloaded ${name}.json and ${name}.weights.bin.`;
  });

/** Replaces the model and network by a loaded one; the previous one is disposed only on success. */
async function load(source: string | tl.io.IOHandler): Promise<void> {
  const { data } = state;
  if (data === undefined || isTraining()) throw new Error('stop the training first');
  const model = await tl.loadLayersModel(source);
  try {
    const network = networkOf(model, data);
    const inputShape = model.inputs[0]!.shape.slice(1) as number[];
    change(network);
    if (state.checked?.layers.some(({ problem }) => problem !== undefined)) {
      throw new Error(
        `its layers are displayed, but they do not fit the current data (examples of [${data.shape}], ` +
          `the model expects [${inputShape}]). Choose other data, or change the layers; its weights are left out`,
      );
    }
    compile(model);
    const { loss, optimizer } = state.settings;
    adopt({ model, network, loss, optimizer, isLoaded: true });
    const weightsRevision = state.weightsRevision + 1;
    update({ status: 'Loaded', weightsRevision, confusion: confusionOf(model) });
  } catch (error) {
    model.dispose();
    throw error;
  }
}

/** How a loaded model does on the validation data. */
function confusionOf(model: tl.LayersModel): number[][] | undefined {
  const { data } = state;
  if (data?.classes === undefined) return undefined;
  const { test, shape } = data;
  const inputShape = model.inputs[0]!.shape.slice(1) as number[];
  const x = tl.tensor(test.features, [
    test.count,
    ...(inputShape.length === shape.length ? shape : inputShape),
  ]);
  const { confusionMatrix } = model.evaluate(x, tl.tensor(test.labels, [test.count]), {
    asObject: true,
    batchSize: state.settings.testSize,
  });
  return confusionMatrix as unknown as number[][] | undefined;
}

/** Loads model.json and its weights from chosen files. */
export const loadFiles = (files: readonly File[]) =>
  attempt('Not loaded', async () => {
    clearFileProblems();
    await load(tl.io.browserFiles(files));
    return `Loaded ${files.map(({ name }) => name).join(', ')}.`;
  });

async function showSaved(): Promise<void> {
  const models = await tl.io.listModels();
  const items = Object.entries(models)
    .filter(([address]) => address.startsWith(prefix))
    .map(([address, { dateSaved, weightDataBytes }]) => {
      const name = address.slice(prefix.length);
      const when = dateSaved.toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' });
      const facts = `${kibibytes(weightDataBytes ?? 0)}, ${when}`;
      const loadIt = () =>
        void attempt('Not loaded', async () => {
          await load(address);
          return `Loaded “${name}”.`;
        });
      const remove = () =>
        void attempt('Not removed', async () => {
          await tl.io.removeModel(address);
          return `Removed “${name}”.`;
        });
      return make(
        'li',
        {},
        make('span', { className: 'layer-name' }, name),
        make('span', { className: 'note' }, facts),
        makeButton('Load', loadIt, `Load ${name}`),
        makeButton('Remove', remove, `Remove ${name}`),
      );
    });
  box('saved').replaceChildren(...items);
}

/** Has the browser download a file. */
function download(name: string, content: BlobPart, type: string): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  make('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60000);
}

function showModule(): void {
  const { trained, phase } = state;
  const isReady = trained !== undefined && (phase === 'idle' || isTraining());
  for (const id of [
    'download',
    'download-training',
    'download-text',
    'view',
    'download-model',
    'save',
  ]) {
    button(id).disabled = !isReady;
  }
  if (trained === undefined) {
    for (const id of ['module-size', 'compile-time', 'memory', 'threads']) show(id, '–');
    return;
  }
  const { moduleBytes, memoryBytes, compileMs, threads } = trained.model.stats();
  show('module-size', kibibytes(moduleBytes));
  show('memory', kibibytes(memoryBytes));
  show('compile-time', milliseconds(compileMs));
  show('threads', String(Math.min(threads, tl.env().threads.count)));
}

export function openSaving(): void {
  button('save').addEventListener('click', () => void save());
  button('download-model').addEventListener('click', () => void downloadModel());
  input('model-files').addEventListener('change', () => {
    const files = [...(input('model-files').files ?? [])];
    input('model-files').value = '';
    if (files.length > 0) void loadFiles(files);
  });
  const dialog = element('text-dialog', HTMLDialogElement);
  const textOf = () => state.trained!.model.toWat();
  button('download').addEventListener(
    'click',
    () =>
      void attempt('Not downloaded', async () => {
        download('model.wasm', state.trained!.model.toWasm(), 'application/wasm');
        return 'Downloaded model.wasm.';
      }),
  );
  button('download-training').addEventListener(
    'click',
    () =>
      void attempt('Not downloaded', async () => {
        download('training.wasm', trainingModule(state.trained!), 'application/wasm');
        return 'Downloaded training.wasm.';
      }),
  );
  button('download-text').addEventListener(
    'click',
    () =>
      void attempt('Not downloaded', async () => {
        download('model.wat', await textOf(), 'text/plain');
        return 'Downloaded model.wat.';
      }),
  );
  button('view').addEventListener(
    'click',
    () =>
      void attempt('Not shown', async () => {
        show('text', await textOf());
        dialog.showModal();
        return '';
      }),
  );
  button('text-close').addEventListener('click', () => dialog.close());
  watch(['trained', 'phase', 'weightsRevision'], showModule);
  showSaved().catch((error: unknown) => {
    showProblem('saving-problem', `Nothing can be saved in this browser: ${messageOf(error)}`);
  });
}
