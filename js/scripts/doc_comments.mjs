// The descriptions of what the tables name (js/scripts/docs/*.json) as text: comments for the generated types, and Markdown for
// the pages of tools/docs/reference.mjs. It knows the description that `lathe describe` prints, not what is generated from it.
import { readFileSync } from 'node:fs';

const files = ['layers', 'training', 'operations'];
const docs = Object.assign(
  {},
  ...files.map((name) =>
    JSON.parse(readFileSync(new URL(`docs/${name}.json`, import.meta.url), 'utf8')),
  ),
);
const described = Object.keys(docs).filter((name) => !/options|parameters/i.test(name));

/** Options that all layers share; `LayerArgs` describes them. */
export const commonOptions = ['inputShape', 'name', 'trainable', 'activityRegularizer'];

/** The description of a row, as `{text, formula, shape, example, …}`. */
export function docOf(table, row) {
  const doc = docs[table][row.name];
  return doc && { ...doc, text: doc.text ?? row.doc };
}

/** What an option of a layer means; undefined: nothing is known. */
export const optionText = (layer, option) =>
  docs.layerOptions[`${layer.name}.${option.name}`] ?? docs.layerOptions[option.name];

/** What a parameter of a loss, optimizer, … means; undefined: nothing is known. */
export const parameterText = (row, parameter) =>
  docs.parameters[`${row.name}.${parameter.name}`] ?? docs.parameters[parameter.name];

/** Names that the tables have and the descriptions lack, or the reverse; none if they match. */
export function undescribed(tables) {
  const names = described.flatMap((table) => {
    const rows = new Set(tables[table].map(({ name }) => name));
    const lacking = [...rows].filter((name) => docOf(table, { name }) === undefined);
    const extra = Object.keys(docs[table]).filter((name) => !rows.has(name));
    return [...lacking, ...extra].map((name) => `${table}: ${name}`);
  });
  const options = tables.layers.flatMap((layer) =>
    layer.options
      .filter((option) => !commonOptions.includes(option.name) && !optionText(layer, option))
      .map((option) => `layerOptions: ${layer.name}.${option.name}`),
  );
  const parameters = described
    .filter((table) => !['layers', 'operations'].includes(table))
    .flatMap((table) => tables[table])
    .flatMap((row) => row.parameters.map((each) => ({ row, each })))
    .filter(({ row, each }) => parameterText(row, each) === undefined)
    .map(({ row, each }) => `parameters: ${row.name}.${each.name}`);
  return [...names, ...options, ...parameters];
}

export const defaultText = (value) =>
  value === null || value === undefined
    ? ''
    : `Default: ${Array.isArray(value) ? `[${value}]` : value}.`;

const batched = (shape) => `[batch, ${shape.join(', ')}]`;

/** An example with its result as a comment. */
export function exampleOf({ example, result, input, output }) {
  if (output !== undefined)
    return `${example}; // ${input.map(batched).join(', ')} → ${batched(output)}`;
  return result === undefined ? example : `${example}; // ${result}`;
}

const code = (text) => `\`${text}\``;

/** An example of a row whose description has none: where its name is used. */
export function usage(table, row) {
  const object = (parameters) =>
    parameters.map((each) => `${each.name}: ${each.default}`).join(', ');
  const numbers = row.parameters?.filter((each) => typeof each.default === 'number') ?? [];
  const config =
    numbers.length === 0 ? `'${row.name}'` : `{ name: '${row.name}', ${object(numbers)} }`;
  return {
    activations: `tl.layers.dense({ units: 8, activation: ${config} })`,
    losses: `model.compile({ loss: ${config}, optimizer: 'adam' })`,
    metrics: `model.compile({ loss, optimizer: 'adam', metrics: [${config}] })`,
    optimizers: `model.compile({ loss, optimizer: tl.train.${row.name}(${row.parameters?.[0]?.default}) })`,
    initializers: `tl.layers.dense({ units: 8, kernelInitializer: ${config} })`,
    regularizers: `tl.layers.dense({ units: 8, kernelRegularizer: ${config} })`,
    constraints: `tl.layers.dense({ units: 8, kernelConstraint: ${config} })`,
  }[table];
}

/** The lines of a description, a paragraph each: sentence, formula, shapes, difference. */
export function paragraphs({ text, formula, shape, differs }) {
  return [
    text,
    formula && code(formula),
    shape && `Shapes: ${shape}.`,
    differs && `Differs from TensorFlow.js: ${differs}`,
  ].filter(Boolean);
}

/** A comment of these paragraphs with that indentation; tags and an example follow. */
export function comment(indent, doc, { first = [], tags = [], example } = {}) {
  const parts = [...first, ...paragraphs(doc)];
  const lines = parts.flatMap((each, at) => [...(at > 0 ? [''] : []), ...each.split('\n')]);
  if (tags.length > 0) lines.push('', ...tags);
  if (example !== undefined) lines.push('', '@example', '```ts', ...example.split('\n'), '```');
  if (lines.length === 1) return [`${indent}/** ${lines[0]} */`];
  return [
    `${indent}/**`,
    ...lines.map((line) => `${indent} *${line === '' ? '' : ` ${line}`}`),
    `${indent} */`,
  ];
}

/** A list of all names of a table, for the comment of their type. */
export function listOf(table, rows) {
  return rows.map((row) => {
    const { text, formula } = docOf(table, row);
    const short = row.short ? ` (\`${row.short}\`)` : '';
    return `* \`${row.name}\`${short}: ${text}${formula ? ` ${code(formula)}` : ''}`;
  });
}
