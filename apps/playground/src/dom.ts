// Finds and creates elements, and formats numbers for display.

/** The element with this id. Error: the page has none of that type. */
export function element<T extends HTMLElement>(id: string, type: new () => T): T {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`the page has no ${type.name} #${id}`);
  return found;
}

export const button = (id: string) => element(id, HTMLButtonElement);
export const input = (id: string) => element(id, HTMLInputElement);
export const select = (id: string) => element(id, HTMLSelectElement);
export const canvas = (id: string) => element(id, HTMLCanvasElement);
export const box = (id: string) => element(id, HTMLElement);

/** Replaces the text of an element. */
export function show(id: string, text: string): void {
  const target = box(id);
  if (target.textContent !== text) target.textContent = text;
}

type Properties = Record<string, unknown>;
type Child = Node | string | undefined;

/** A new element: properties by name, attributes where the name has a dash or is `for` or `role`. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Properties = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined) continue;
    if (/-|^(for|role|scope)$/.test(name)) made.setAttribute(name, String(value));
    else Object.assign(made, { [name]: value });
  }
  made.append(...children.filter((child) => child !== undefined));
  return made;
}

/** A button with a callback; `label` is its accessible name, if the text is too short. */
export function makeButton(text: string, onclick: () => void, label?: string): HTMLButtonElement {
  return make('button', { type: 'button', onclick, title: label, 'aria-label': label }, text);
}

/** Options of a select; the names are the values. */
export function fillSelect(
  target: HTMLSelectElement,
  names: readonly string[],
  chosen?: string,
): void {
  target.replaceChildren(...names.map((name) => new Option(name, name, false, name === chosen)));
}

/** Shows an error in its container, or hides the container. */
export function showProblem(id: string, problem: unknown): void {
  const container = box(id);
  container.hidden = problem === undefined;
  container.textContent = problem === undefined ? '' : messageOf(problem);
}

/** Prefixes of the messages of Chromium, Firefox and Safari for a module that could not be fetched. */
const notFetched = /dynamically imported module|^Importing a module script failed/;

export function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return notFetched.test(message)
    ? 'A part of the page could not be fetched. Is this device connected? Then try again.'
    : message;
}

export const formatLoss = (loss: number) =>
  Math.abs(loss) < 1000 ? loss.toFixed(4) : loss.toPrecision(5);
export const percent = (share: number) => `${(100 * share).toFixed(2)} %`;
export const milliseconds = (ms: number) =>
  ms >= 1000 ? `${(ms / 1000).toFixed(1)} s` : `${ms.toFixed(ms < 1 ? 3 : ms < 10 ? 2 : 1)} ms`;
export const kibibytes = (bytes: number) =>
  bytes < 1024 * 1024
    ? `${(bytes / 1024).toFixed(bytes < 10240 ? 1 : 0)} KiB`
    : `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
export const formatInteger = (value: number) => Math.round(value).toLocaleString('en');
export const formatShape = (shape: readonly number[]) => shape.join(' × ');

/** The value of a CSS custom property of the page. */
export function theme(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** Calls back whenever the colors of the page change. */
export function onThemeChange(callback: () => void): void {
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', callback);
}

/** Waits until the page has drawn; not while it is hidden, where nothing is drawn. */
export const nextFrame = () =>
  document.hidden ? nextTask() : new Promise<unknown>((done) => requestAnimationFrame(done));

/** Lets the page draw and answer. */
export const nextTask = () => new Promise<void>((done) => setTimeout(done));
