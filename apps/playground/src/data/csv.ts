// Parses a table into lines of fields: detects the delimiter, handles quotes (RFC 4180), records line numbers.

export interface Line {
  /** Line number in the file, from 1; the first one of a multi-line record. */
  line: number;
  fields: string[];
}

const delimiters = [',', ';', '\t', '|'];

/** Display names of delimiters. */
export const delimiterNames: Record<string, string> = {
  ',': 'commas',
  ';': 'semicolons',
  '\t': 'tabs',
  '|': 'bars',
};

/** The delimiter that splits the largest number of the first lines into as many fields as the header; ties: more fields. */
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

/** The non-blank lines. Error: an unterminated quote, unless `open` permits it. */
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

/** Parses the number in a field, or NaN; 5% is 0.05. If the delimiter is no comma, commas may be decimal separators. */
export function numberOf(field: string, delimiter: string): number {
  const text = field.trim();
  if (/\d\s*%$/.test(text)) return numberOf(text.slice(0, -1), delimiter) / 100;
  const isComma = delimiter !== ',' && /^[-+]?\d+,\d+$/.test(text);
  return text === '' ? NaN : Number(isComma ? text.replace(',', '.') : text);
}

/** Whether commas are at every third digit: ambiguous, as they may be decimal separators in other locales. */
export function withoutThousands(field: string): string | undefined {
  const text = field.trim();
  return /^[-+]?\d{1,3}(,\d{3})+(\.\d+)?$/.test(text) ? text.replaceAll(',', '') : undefined;
}
