// The internals of the training step: graph, loops and WebAssembly of the selected layer, side by side, each loop nest in its color.
import { box, button, make, milliseconds, show } from '../dom';
import { type Measured, type Phase, phases } from '../layer_times';
import { type Kernel, type Part, partName } from '../module_forms';

/** Maximum lines per stage: more would slow the page down. */
const maxLines = 1500;
const forms = ['graph', 'loops', 'wasm'] as const;

let measured: Measured;
let layer = '';
let phase: Phase = 'forward';

const empty: Part = { nodes: [], kernels: [] };
const partOf = (which: Phase) => measured.forms.get(partName(which, layer)) ?? empty;

/** Lights what belongs to a kernel in all three forms, and brings it into view in the others. */
function light(kernel: string, from?: Element): void {
  for (const form of forms) {
    const pane = box(`inside-${form}`);
    for (const each of pane.querySelectorAll<HTMLElement>('[data-kernel]')) {
      const isIts = each.dataset.kernel === kernel;
      each.classList.toggle('lit', isIts);
      if (isIts && !pane.contains(from ?? null)) pane.scrollTop = each.offsetTop - 40;
    }
  }
}

/** The color of a kernel: the same in all forms, and far from those of its neighbors. */
function hueOf({ name }: Kernel): number {
  const { kernels } = partOf(phase);
  return Math.round(190 + 137.5 * kernels.findIndex((each) => each.name === name)) % 360;
}

/** Text that belongs to a kernel; its name is a button, for those who do not point. */
function chunk(kernel: Kernel, text: string, isNamed = false): HTMLElement {
  const { name } = kernel;
  const title = make('button', { type: 'button', className: 'kernel' }, name);
  const made = make('div', { className: 'chunk' }, ...(isNamed ? [title] : []), text);
  made.dataset.kernel = name;
  made.style.setProperty('--hue', String(hueOf(kernel)));
  made.addEventListener('pointerenter', () => light(name, made));
  title.addEventListener('focus', () => light(name, made));
  return made;
}

function truncate(text: string): string {
  const lines = text.trimEnd().split('\n');
  const rest = lines.length - maxLines;
  const visibleLines = rest > 0 ? [...lines.slice(0, maxLines), `… ${rest} more lines`] : lines;
  return `${visibleLines.join('\n')}\n`;
}

function showForms(): void {
  const { nodes, kernels } = partOf(phase);
  const graph = nodes.map(({ id, text }) => {
    const kernel = kernels.find(({ node }) => node === id);
    return kernel === undefined ? make('div', {}, `${text}\n`) : chunk(kernel, `${text}\n`);
  });
  const none = [
    make('p', { className: 'note' }, 'No loop of this layer: it is fused into another one.'),
  ];
  const loops = kernels.map((kernel) => chunk(kernel, truncate(kernel.loops), true));
  const wasm = kernels.map((kernel) => chunk(kernel, truncate(kernel.functions)));
  box('inside-graph').replaceChildren(...(graph.length > 0 ? graph : none));
  box('inside-loops').replaceChildren(...(loops.length > 0 ? loops : none));
  box('inside-wasm').replaceChildren(...(wasm.length > 0 ? wasm : none));
  for (const form of forms) box(`inside-${form}`).scrollTop = 0;
  if (kernels.length > 0) light(kernels[0]!.name);
}

function showPart(): void {
  const times = measured.layers.find(({ name }) => name === layer);
  const all = measured.layers.reduce(
    (sum, each) => sum + phases.reduce((total, which) => total + each[which], 0),
    0,
  );
  const ms = times?.[phase] ?? 0;
  const share = Math.round((100 * ms) / (all || 1));
  show('inside-title', `${layer}, ${phase}: ${milliseconds(ms)}, ${share} % of a step`);
  for (const which of phases) {
    const { nodes, kernels } = partOf(which);
    button(`inside-${which}`).ariaPressed = String(which === phase);
    button(`inside-${which}`).disabled = nodes.length + kernels.length === 0;
  }
  showForms();
}

/** Shows a layer: in the phase at hand, or in one that it has. */
function choose(name: string): void {
  if (name === layer) return;
  layer = name;
  const usedPhases = phases.filter((which) => partOf(which).kernels.length > 0);
  if (!usedPhases.includes(phase) && usedPhases.length > 0) phase = usedPhases[0]!;
  for (const each of document.querySelectorAll<HTMLElement>('.times [data-layer]')) {
    each.classList.toggle('chosen', each.dataset.layer === name);
    each.querySelector('button')!.ariaPressed = String(each.dataset.layer === name);
  }
  showPart();
}

/** Shows what was measured; the rows of the table of times choose the layer. */
export function showInside(found: Measured): void {
  measured = found;
  layer = '';
  phase = 'forward';
  for (const row of document.querySelectorAll<HTMLElement>('.times [data-layer]')) {
    const name = row.dataset.layer!;
    row.onpointerenter = row.onclick = () => choose(name);
    row.querySelector('button')!.onfocus = () => choose(name);
  }
  for (const which of phases) {
    button(`inside-${which}`).onclick = () => {
      phase = which;
      showPart();
    };
  }
  box('inside').hidden = false;
  const first = found.layers.find(({ name }) => partWithKernels(name)) ?? found.layers[0];
  if (first !== undefined) choose(first.name);
}

const partWithKernels = (name: string) =>
  (measured.forms.get(partName('forward', name)) ?? empty).kernels.length > 0;
