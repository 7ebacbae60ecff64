// Opens the page: its panels, and the data to begin with.
import * as tl from 'tensorlathe';
import { box, button, element, messageOf, show } from './dom';
import { onEdit, resume } from './editing';
import { openAsk } from './panels/ask';
import { showBrowser } from './panels/browser';
import { draft, onNetworkChange, openCode, showDraft } from './panels/code';
import { openCompare } from './panels/compare';
import { openCurves } from './panels/curves';
import { openData, useDrawnDigits } from './panels/data';
import { openDraw } from './panels/draw';
import { openDrop } from './panels/drop';
import { trainAtFirst, shouldTrainAtFirst } from './panels/first_visit';
import { openHeadline } from './panels/headline';
import { openInspector } from './panels/inspector';
import { onNetworkChecked, onNetworkReplaced, openLayers } from './panels/layers';
import { openPicture } from './panels/picture';
import { openPlane } from './panels/plane';
import { openResults } from './panels/results';
import { openSaving } from './panels/saving';
import { openStory } from './panels/story';
import { openTime } from './panels/time';
import { openTraining } from './panels/training';
import { openWeights } from './panels/weights';
import { saveSessionOnChange, savedSessionFor } from './session';
import { state, update } from './store';

/** Unexpected errors are displayed on top until dismissed. */
function showError(error: unknown): void {
  show('error-text', messageOf(error));
  box('error').hidden = false;
}

addEventListener('error', ({ error, message }) => showError(error ?? message));
addEventListener('unhandledrejection', ({ reason }) => showError(reason));
button('error-close').addEventListener('click', () => {
  box('error').hidden = true;
});

async function open(): Promise<void> {
  if (import.meta.env.VITE_HAS_DOCS === 'true') {
    box('docs-link').hidden = false;
    element('get-started', HTMLAnchorElement).href = './docs/index.html';
  }
  await tl.ready();
  onEdit({
    replaced() {
      onNetworkReplaced();
      onNetworkChange();
    },
    checked() {
      onNetworkChecked();
      onNetworkChange();
    },
  });
  for (const each of [
    openHeadline,
    openData,
    openLayers,
    openCode,
    openTraining,
    openCurves,
    openResults,
  ])
    each();
  for (const each of [
    openStory,
    openDraw,
    openAsk,
    openPlane,
    openPicture,
    openWeights,
    openTime,
    openCompare,
    openSaving,
    openInspector,
    openDrop,
  ])
    each();
  void showBrowser();
  await useDrawnDigits();
  const saved = state.data && savedSessionFor(state.data);
  const begins = shouldTrainAtFirst(saved);
  if (saved !== undefined) {
    resume(saved);
    if (saved.draft !== undefined) showDraft(saved.draft);
  }
  saveSessionOnChange(draft);
  if (begins) await trainAtFirst();
}

open().catch((error: unknown) => {
  showError(error);
  if (state.phase === 'opening') update({ status: 'Cannot start; the reason is above.' });
});
