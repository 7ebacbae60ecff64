/** SVG as strings, legible on light and dark pages. Must not know what figures show. */

const invalid = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu;

/** Text as content or attribute value of XML; characters that XML cannot contain are replaced. */
export const escapeXml = (value: unknown): string =>
  String(value)
    .replace(invalid, '\u{fffd}')
    .replace(/[&<>"']/g, (each) => `&#${each.charCodeAt(0)};`);

/** An element; attributes are escaped, children are not. */
export function element(
  name: string,
  attributes: Readonly<Record<string, string | number>>,
  ...children: readonly string[]
): string {
  const all = Object.entries(attributes).map(([key, value]) => ` ${key}="${escapeXml(value)}"`);
  return `<${name}${all.join('')}>${children.join('')}</${name}>`;
}

/** A coordinate with one decimal. */
export const rounded = (value: number): number => Math.round(10 * value) / 10;

/** A line of text; `kind` is a class of the style below. */
export const textAt = (
  x: number,
  y: number,
  content: unknown,
  kind = '',
  anchor: 'start' | 'middle' | 'end' = 'start',
): string =>
  element(
    'text',
    {
      x: rounded(x),
      y: rounded(y),
      'text-anchor': anchor,
      ...(kind === '' ? {} : { class: kind }),
    },
    escapeXml(content),
  );

/** What pointers see over the rest of a group. */
export const tooltip = (content: unknown): string => element('title', {}, escapeXml(content));

const rule = (theme: Readonly<Record<string, string>>) =>
  Object.entries(theme)
    .map(([selector, body]) => `.lathe-figure ${selector}{${body}}`)
    .join('');

// Without variables: viewers other than browsers know classes only.
const style =
  '.lathe-figure{font:12px system-ui,sans-serif;max-width:100%;height:auto}' +
  rule({
    '.title': 'font-weight:600',
    '.mono': 'font-family:ui-monospace,monospace;white-space:pre',
    '.line': 'fill:none;stroke-width:1.75;stroke-linejoin:round',
    '.dashed': 'stroke-dasharray:5 3',
    '.edge': 'fill:none;stroke:#888;stroke-width:1.25',
    '.back': 'fill:#fff',
    text: 'fill:#222',
    '.faint': 'fill:#666',
    '.grid': 'stroke:#ddd',
    '.node': 'fill:#f3f6fa;stroke:#9fb3c8',
    '.end': 'fill:#e6f4ea;stroke:#7fb08c',
    '.first': 'stroke:#1f6fb5',
    '.dot.first': 'fill:#1f6fb5',
    '.second': 'stroke:#c8590b',
    '.dot.second': 'fill:#c8590b',
    '.wrong': 'fill:#c0262d',
  }) +
  `@media (prefers-color-scheme:dark){${rule({
    '.back': 'fill:#1b1e23',
    text: 'fill:#e4e6e8',
    '.faint': 'fill:#a4abb3',
    '.grid': 'stroke:#3a4048',
    '.node': 'fill:#272d35;stroke:#56677a',
    '.end': 'fill:#233229;stroke:#52775d',
    '.first': 'stroke:#66aee8',
    '.dot.first': 'fill:#66aee8',
    '.second': 'stroke:#f0954e',
    '.dot.second': 'fill:#f0954e',
    '.wrong': 'fill:#ff7b80',
  })}}`;

/** The whole image. `label` is what screen readers say. */
export function svgImage(
  width: number,
  height: number,
  label: string,
  children: readonly string[],
): string {
  const [w, h] = [Math.ceil(width), Math.ceil(height)];
  const attributes = {
    xmlns: 'http://www.w3.org/2000/svg',
    class: 'lathe-figure',
    role: 'img',
    'aria-label': label,
    width: w,
    height: h,
    viewBox: `0 0 ${w} ${h}`,
  };
  const back = element('rect', { class: 'back', width: w, height: h, rx: 6 });
  return element('svg', attributes, element('style', {}, style), back, ...children);
}
