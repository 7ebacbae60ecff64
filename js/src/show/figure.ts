/** What `show` returns. */
import { LatheError } from '../base/errors.js';

/** Something shown: text for terminals, SVG and HTML for pages and notebooks. */
export class Figure {
  /** An image of its own, with light and dark colors. */
  readonly svg: string;
  /** To be put into a page; the same image, or text. */
  readonly html: string;
  readonly #text: string;
  readonly #colored: string;

  /** @internal */
  constructor(text: string, svg: string, html = svg, colored = text) {
    this.#text = text;
    this.svg = svg;
    this.html = html;
    this.#colored = colored;
  }

  /** Plain text, without colors. */
  toString(): string {
    return this.#text;
  }

  /** An element of a page, as notebooks in the browser display it. Error: not in a page. */
  toElement(): HTMLElement {
    if (typeof document === 'undefined') {
      throw new LatheError('show: toElement works in pages; elsewhere use toString, svg or html');
    }
    const element = document.createElement('div');
    element.innerHTML = this.html;
    return element;
  }

  /** Node prints this with `console.log`. */
  [Symbol.for('nodejs.util.inspect.custom')](
    _depth: number,
    options: { colors?: boolean },
  ): string {
    return options?.colors === true ? this.#colored : this.#text;
  }

  /** Jupyter with Deno displays this: contents by MIME type. */
  [Symbol.for('Jupyter.display')](): Record<string, string> {
    return { 'text/plain': this.#text, 'text/html': this.html, 'image/svg+xml': this.svg };
  }
}
