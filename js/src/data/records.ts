/** Splits comma-separated text (RFC 4180) into records, whatever the chunks it arrives in. */
import { LatheError } from '../base/errors.js';

/** The fields of a record and the line it begins in, from 1. */
export interface TextRecord {
  fields: string[];
  line: number;
}

/**
 * Records of the text. Lines end with LF or CRLF, or all with CR where the first does; fields in double quotes may hold delimiters,
 * line ends and doubled quotes; empty lines are no records. `areMany`: any number of delimiters is one, and none around a line.
 * Errors, after the records before: a quoted field that never ends, or goes on after its closing quote.
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

type Place = 'start' | 'plain' | 'quoted' | 'closed';

class Splitter {
  /** Why there are no more records. */
  failure: LatheError | undefined;
  #place: Place = 'start';
  #field = '';
  #fields: string[] = [];
  #line = 1;
  #firstLine = 1;
  #quoteLine = 1;
  /** LF or CR, whichever ends the first line. */
  #lineEnd = '';
  /** Whether the last character is a CR that no quotes are around. */
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
      if (this.#place === 'quoted') {
        if (endsLine) ++this.#line;
        if (char !== '"') continue;
        this.#field += chunk.slice(from, at);
        this.#place = 'closed';
      } else if (endsLine || char === '\r' || char === this.delimiter) {
        if (this.#place === 'plain') this.#field += chunk.slice(from, at);
        from = at + 1;
        if (endsLine) this.#endLine(char);
        else if (char === '\r') this.#hasReturn = true;
        else this.#delimit();
      } else if (char === '"' && this.#place !== 'plain') {
        if (this.#place === 'closed') this.#field += '"';
        else this.#quoteLine = this.#line;
        this.#place = 'quoted';
        from = at + 1;
      } else if (this.#place === 'closed') {
        this.failure = new LatheError(`csv: line ${this.#line}: ${char} after a closing quote`);
        return this.#take();
      } else if (this.#place === 'start') {
        this.#place = 'plain';
        from = at;
      }
    }
    if (this.#place === 'plain' || this.#place === 'quoted') this.#field += chunk.slice(from);
    return this.#take();
  }

  /** What the CR before a character is: half of a line end, a line end, or part of a field, which goes on. */
  #returned(next: string): boolean {
    this.#hasReturn = false;
    if (next === '\n') return false;
    if (this.#lineEnd !== '\n') {
      this.#endLine('\r');
      return false;
    }
    this.#field += '\r';
    if (this.#place === 'start') this.#place = 'plain';
    return true;
  }

  #endLine(char: string): void {
    this.#lineEnd ||= char;
    ++this.#line;
    this.#endRecord();
  }

  end(): TextRecord[] {
    if (this.#place === 'quoted') {
      throw new LatheError(`csv: the quote that begins in line ${this.#quoteLine} never ends`);
    }
    this.#endRecord();
    return this.#take();
  }

  #delimit(): void {
    if (!this.areMany || this.#place !== 'start') this.#endField();
  }

  #endField(): void {
    this.#fields.push(this.#field);
    this.#field = '';
    this.#place = 'start';
  }

  #endRecord(): void {
    const isEmpty = this.#fields.length === 0 && this.#place === 'start';
    if (!isEmpty) {
      this.#delimit();
      this.#records.push({ fields: this.#fields, line: this.#firstLine });
      this.#fields = [];
    }
    this.#firstLine = this.#line;
  }

  #take(): TextRecord[] {
    const records = this.#records;
    this.#records = [];
    return records;
  }
}
