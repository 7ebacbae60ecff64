// Reads the members of classes and interfaces from .d.ts files. Types are only compared by name.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Source text without comments, which may contain braces. */
const plain = (text) => text.replace(/\/\*[^]*?\*\/|\/\/.*$/gm, '');

/** Up to the brace that closes the one before `from`. */
function block(text, from) {
  let depth = 1;
  let at = from;
  for (; depth > 0; ++at) depth += text[at] === '{' ? 1 : text[at] === '}' ? -1 : 0;
  return text.slice(from, at - 1);
}

/** The statements of a block, without the content of inner braces. */
function statements(body) {
  let depth = 0;
  const found = [''];
  for (const letter of body) {
    if (/[)}\]]/.test(letter)) --depth;
    if (depth === 0 && letter === ';') found.push('');
    else if (depth === 0 || /[({[]/.test(letter)) found[found.length - 1] += letter;
    if (/[({[]/.test(letter)) ++depth;
  }
  return found.map((each) => each.trim());
}

const modifiers = /^(?:(?:static|readonly|abstract|async|get|set|override|declare)\s+(?=[\w'"[]))*/;

function membersOf(body) {
  return statements(body).flatMap((statement) => {
    if (/\b(private|protected)\s/.test(statement)) return [];
    const name = /^['"]?([A-Za-z]\w*)['"]?\s*(?:[?:(<=]|$)/.exec(statement.replace(modifiers, ''));
    return name === null || name[1] === 'constructor' ? [] : [name[1]];
  });
}

/** The .d.ts files of a folder and those below. */
function filesOf(folder) {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return files.filter((file) => file.endsWith('.d.ts')).map((file) => join(folder, file));
}

/** The classes, interfaces and functions that the .d.ts files of a folder declare. */
export class Declarations {
  #types = new Map();
  #functions = new Map();

  constructor(folder) {
    for (const file of filesOf(folder)) this.#read(plain(readFileSync(file, 'utf8')));
  }

  #read(text) {
    const type =
      /(?:class|interface|type)\s+(\w+)(?:<(?:[^{=]|\{\}|=(?!\s*\{))*?>)?\s*((?:extends|implements|=)\s*[^{;]*)?\{/g;
    for (const { 0: head, 1: name, 2: bases = '', index } of text.matchAll(type)) {
      const members = membersOf(block(text, index + head.length));
      const entry = this.#types.get(name) ?? { bases: [], members: [] };
      entry.bases.push(...(bases.match(/\b[A-Z]\w+/g) ?? []));
      entry.members.push(...members);
      this.#types.set(name, entry);
    }
    const call = /function\s+(\w+)(?:<[^(]*>)?\((?:\w+\??:\s*(\w+))?/g;
    for (const [, name, argument] of text.matchAll(call)) {
      if (!this.#functions.has(name)) this.#functions.set(name, argument);
    }
  }

  /** Whether a type of this name is declared. */
  has(name) {
    return this.#types.has(name);
  }

  /** The members of a type that anybody may use, those of its bases included. Error: there is no such type. */
  members(name) {
    if (!this.has(name)) throw new Error(`${name} is not declared`);
    const types = [name, ...this.bases(name)].map((each) => this.#types.get(each));
    return new Set(types.flatMap((type) => type?.members ?? []));
  }

  /** The names of the types that a type extends, and of those that they extend. */
  bases(name) {
    const found = new Set();
    const visit = (each) => {
      for (const base of this.#types.get(each)?.bases ?? []) {
        if (found.has(base)) continue;
        found.add(base);
        visit(base);
      }
    };
    visit(name);
    return found;
  }

  /** The name of the type of the first argument of a function. */
  argument(name) {
    return this.#functions.get(name);
  }
}
