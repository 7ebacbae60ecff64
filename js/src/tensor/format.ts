/** Tensors as text, line by line as TensorFlow.js prints them. */

/** Beyond so many along an axis, only the first and last few are shown. */
const most = 20;
const shown = 3;

/** The elements of a tensor of one axis or more as lines; `spell` makes text of one. */
export function formatElements(shape: readonly number[], spell: (at: number) => string): string[] {
  const rank = shape.length;
  const columns = shape[rank - 1]!;
  const rows = shape.slice(0, -1).reduce((product, size) => product * size, 1);
  const widths = new Array<number>(rank > 1 ? columns : 0).fill(0);
  for (let at = 0; rank > 1 && at < rows * columns; ++at) {
    const column = at % columns;
    widths[column] = Math.max(widths[column]!, spell(at).length);
  }
  const format = (axis: number, row: number, isLast: boolean): string[] => {
    const size = shape[axis]!;
    const isLong = size > most;
    const places = Array.from({ length: isLong ? 2 * shown : size }, (_, at) =>
      isLong && at >= shown ? size - 2 * shown + at : at,
    );
    const inner = rank - axis;
    const parts = places.map((at) =>
      inner === 1
        ? [spell(row * size + at).padEnd(widths[at] ?? 0)]
        : format(axis + 1, row * size + at, at === size - 1),
    );
    if (isLong) parts.splice(shown, 0, ['...']);
    if (inner === 1) return [`[${parts.join(', ')}]`];
    const lines = parts.flat();
    const comma = inner === 2 ? ',' : '';
    lines[0] = size > 0 ? `[${lines[0]}${comma}` : '[';
    for (let at = 1; at < lines.length - 1; ++at) lines[at] = ` ${lines[at]}${comma}`;
    lines.push(` ${lines.pop()}]${isLast ? '' : `,\n${'\n'.repeat(inner - 2)}`}`);
    return lines;
  };
  return format(0, 0, true);
}
