/** A streaming CSV parser (RFC 4180): splits chunks of text into records. */
import { LatheError } from '../base/errors.js';

/** The fields of a record and its first line, from 1. */
export interface TextRecord {
  fields: string[];
  line: number;
}

/**
 * Records of the text. Lines end with LF or CRLF, or all with CR where the first does; fields in double quotes may contain delimiters,
 * line ends and doubled quotes; empty lines are skipped. `areMany`: runs of delimiters count as one, and are trimmed at the ends of a line.
 * Errors, after the preceding records: an unterminated quoted field, or characters after a closing quote.
 */
export async function* splitRecords(
  chunks: AsyncIterable<string>,
  delimiter: string,
  areMany = false,
): AsyncGenerator<TextRecord> {
  const splitter = new Splitter(delimiter, areMany);
  for await (const chunk of chunks) {
    yield* splitter.push(chunk);
    if (splitter.failure !== undefined) throw splitter.failure;
  }
  yield* splitter.end();
}

type ParserState = 'start' | 'plain' | 'quoted' | 'closed';

class Splitter {
  /** The error that ended parsing. */
  failure: LatheError | undefined;
  #state: ParserState = 'start';
  #field = '';
  #fields: string[] = [];
  #line = 1;
  #firstLine = 1;
  #quoteLine = 1;
  /** LF or CR, whichever ends the first line. */
  #lineEnd = '';
  /** Whether the last character is an unquoted CR. */
  #hasReturn = false;
  #records: TextRecord[] = [];

  constructor(
    private readonly delimiter: string,
    private readonly areMany: boolean,
  ) {}

  push(chunk: string): TextRecord[] {
    let from = 0;
    for (let at = 0; at < chunk.length; ++at) {
      const char = chunk[at]!;
      if (this.#hasReturn && this.#returned(char)) from = at;
      const endsLine = char === '\n' || (char === '\r' && this.#lineEnd === '\r');
      if (this.#state === 'quoted') {
        if (endsLine) ++this.#line;
        if (char !== '"') continue;
        this.#field += chunk.slice(from, at);
        this.#state = 'closed';
      } else if (endsLine || char === '\r' || char === this.delimiter) {
        if (this.#state === 'plain') this.#field += chunk.slice(from, at);
        from = at + 1;
        if (endsLine) this.#endLine(char);
        else if (char === '\r') this.#hasReturn = true;
        else this.#delimit();
      } else if (char === '"' && this.#state !== 'plain') {
        if (this.#state === 'closed') this.#field += '"';
        else this.#quoteLine = this.#line;
        this.#state = 'quoted';
        from = at + 1;
      } else if (this.#state === 'closed') {
        this.failure = new LatheError(`csv: line ${this.#line}: ${char} after a closing quote`);
        return this.#takeRecords();
      } else if (this.#state === 'start') {
        this.#state = 'plain';
        from = at;
      }
    }
    if (this.#state === 'plain' || this.#state === 'quoted') this.#field += chunk.slice(from);
    return this.#takeRecords();
  }

  /** Resolves a pending CR before a character: half of a CRLF, a line end, or part of a field. */
  #returned(next: string): boolean {
    this.#hasReturn = false;
    if (next === '\n') return false;
    if (this.#lineEnd !== '\n') {
      this.#endLine('\r');
      return false;
    }
    this.#field += '\r';
    if (this.#state === 'start') this.#state = 'plain';
    return true;
  }

  #endLine(char: string): void {
    this.#lineEnd ||= char;
    ++this.#line;
    this.#endRecord();
  }

  end(): TextRecord[] {
    if (this.#state === 'quoted') {
      throw new LatheError(`csv: the quote that begins in line ${this.#quoteLine} never ends`);
    }
    this.#endRecord();
    return this.#takeRecords();
  }

  #delimit(): void {
    if (!this.areMany || this.#state !== 'start') this.#endField();
  }

  #endField(): void {
    this.#fields.push(this.#field);
    this.#field = '';
    this.#state = 'start';
  }

  #endRecord(): void {
    const isEmpty = this.#fields.length === 0 && this.#state === 'start';
    if (!isEmpty) {
      this.#delimit();
      this.#records.push({ fields: this.#fields, line: this.#firstLine });
      this.#fields = [];
    }
    this.#firstLine = this.#line;
  }

  #takeRecords(): TextRecord[] {
    const records = this.#records;
    this.#records = [];
    return records;
  }
}
