// Finds the elements of index.html by id, with their types, and shows numbers in them.

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

/** Replaces the text of an element. */
export function show(id: string, text: string): void {
  const target = element(id, HTMLElement);
  if (target.textContent !== text) target.textContent = text;
}

export const percent = (share: number) => `${(100 * share).toFixed(2)} %`;
export const milliseconds = (ms: number) => `${ms < 10 ? ms.toFixed(2) : ms.toFixed(1)} ms`;
export const kibibytes = (bytes: number) =>
  bytes < 1024 * 1024
    ? `${(bytes / 1024).toFixed(0)} KiB`
    : `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
export const whole = (value: number) => Math.round(value).toLocaleString('en');

/** The value of a CSS custom property of the page. */
export function theme(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
