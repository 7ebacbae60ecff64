// Text of a table -> lines of fields: finds what is between fields, follows quotation marks (RFC 4180), keeps the numbers of the lines.

export interface Line {
  /** Of the file, from 1; of the first one where a field goes over several. */
  line: number;
  fields: string[];
}

const delimiters = [',', ';', '\t', '|'];

/** What delimiters are called. */
export const spelledDelimiter: Record<string, string> = {
  ',': 'commas',
  ';': 'semicolons',
  '\t': 'tabs',
  '|': 'bars',
};

/** The delimiter that divides most of the first lines in as many fields as the header; of several, the one that gives more. */
export function findDelimiter(text: string): string {
  const beginning = text.split(/\r?\n/, 30).slice(0, -1).join('\n') || text;
  const scoreOf = (delimiter: string) => {
    const [header, ...lines] = splitLines(beginning, delimiter, true);
    const width = header?.fields.length ?? 0;
    const same = lines.filter(({ fields }) => fields.length === width).length;
    return width < 2 ? 0 : (same + 1) * Math.log2(width);
  };
  const scores = delimiters.map(scoreOf);
  return delimiters[scores.indexOf(Math.max(...scores))]!;
}

/** The lines that are not blank. Error: a quotation mark without its second, unless `open` allows it. */
export function splitLines(text: string, delimiter: string, open = false): Line[] {
  const lines: Line[] = [];
  let fields: string[] = [];
  let [at, line, first] = [text.startsWith('\uFEFF') ? 1 : 0, 1, 1];
  const plain = () => {
    const start = at;
    while (at < text.length && text[at] !== delimiter && !/[\r\n]/.test(text[at]!)) ++at;
    return text.slice(start, at);
  };
  const quoted = () => {
    let field = '';
    for (++at; at < text.length; ++at) {
      if (text[at] === '"' && text[++at] !== '"') return field;
      if (text[at] === '\n') ++line;
      field += text[at];
    }
    if (!open) throw new Error(`line ${first}: a quotation mark is never closed`);
    return field;
  };
  for (;;) {
    fields.push(text[at] === '"' ? quoted() + plain() : plain());
    if (text[at] === delimiter) {
      ++at;
      continue;
    }
    if (fields.length > 1 || fields[0]!.trim() !== '') lines.push({ line: first, fields });
    fields = [];
    if (text[at] === '\r' && text[at + 1] === '\n') ++at;
    first = line += 1;
    ++at;
    if (at >= text.length) return lines;
  }
}

/** The number that a field spells, NaN for others; 5% is 0.05. Where commas divide no fields, they may be decimal ones. */
export function numberOf(field: string, delimiter: string): number {
  const text = field.trim();
  if (/\d\s*%$/.test(text)) return numberOf(text.slice(0, -1), delimiter) / 100;
  const isComma = delimiter !== ',' && /^[-+]?\d+,\d+$/.test(text);
  return text === '' ? NaN : Number(isComma ? text.replace(',', '.') : text);
}

/** A number with a comma at every third digit, without them; they may be decimal ones in another country, so nobody guesses. */
export function withoutThousands(field: string): string | undefined {
  const text = field.trim();
  return /^[-+]?\d{1,3}(,\d{3})+(\.\d+)?$/.test(text) ? text.replaceAll(',', '') : undefined;
}
