// The stages of compiling a model, by layer: graph nodes, loop nests of kernels, functions in the WebAssembly text format.
import type * as tl from 'tensorlathe';
import type { Phase } from './layer_times';

/** A loop nest of the training step, and its code. */
export interface Kernel {
  name: string;
  /** The last, or main, graph node that it computes. */
  node: number;
  loops: string;
  functions: string;
}

/** The computation of one layer in one phase. */
export interface Part {
  nodes: { id: number; text: string }[];
  kernels: Kernel[];
}

/** The name of a layer's part in a phase. */
export const partName = (phase: Phase, layer: string) => `${phase} ${layer}`;

/** The lines of a block that begins with a prefix, up to its closing brace. */
function blockOf(lines: readonly string[], first: string, indent = ''): string[] {
  const start = lines.findIndex((line) => line.startsWith(`${indent}${first}`));
  const end = lines.indexOf(`${indent}}`, start);
  return start === -1 ? [] : lines.slice(start + 1, end);
}

/** The functions of a module in the text format, by kernel name. */
function functionsOf(text: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const each of text.split(/\n(?= {2}\()/)) {
    const name = /^ {2}\(func \$(train\.k\d+)[. ]/.exec(each)?.[1];
    if (name !== undefined) found.set(name, `${found.get(name) ?? ''}${each}\n`);
  }
  return found;
}

/** The stages of a training step that was compiled with timing, by `partName`. */
export async function formsOf(model: tl.LayersModel): Promise<Map<string, Part>> {
  const dumps = model.dumps(['before:lower', 'after:plan_memory']);
  const [graph, loops] = dumps.map(({ text }) => text.split('\n')) as [string[], string[]];
  const functions = functionsOf(await model.toWat());
  const parts = new Map<string, Part>();
  const part = (name: string) => {
    if (!parts.has(name)) parts.set(name, { nodes: [], kernels: [] });
    return parts.get(name)!;
  };
  for (const line of blockOf(graph, 'graph "train"')) {
    const [, id, text, name] = /^ {2}(?=%(\d+) )(.*) part "(.*)"$/.exec(line) ?? [];
    if (name !== undefined) part(name).nodes.push({ id: Number(id), text: text! });
  }
  const step = blockOf(loops, 'entry train {');
  for (const line of step) {
    const [, name, node, owner] = /^ {2}kernel (\S+) origin (-?\d+) part "(.*?)"/.exec(line) ?? [];
    if (owner === undefined) continue;
    const body = blockOf(step, `kernel ${name} `, '  ').map((each) => each.slice(4));
    part(owner).kernels.push({
      name: name!,
      node: Number(node),
      loops: body.join('\n'),
      functions: functions.get(name!) ?? '',
    });
  }
  return parts;
}
