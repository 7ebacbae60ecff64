// The pages "Layers", "Losses, metrics, optimizers" and "Operations": every name of the tables with its description
// (js/scripts/docs), its options and an example. It knows the tables of the package that is built.
import { tables } from 'tensorlathe/tables';
import {
  commonOptions,
  docOf,
  exampleOf,
  optionText,
  paragraphs,
  parameterText,
  usage,
} from '../../js/scripts/doc_comments.mjs';

const titles = {
  layers: 'Layers',
  training: 'Losses, metrics, optimizers and more',
  operations: 'Operations on tensors',
};
const headingOf = (row) => `${row.name}${row.short ? ` (${row.short})` : ''}`;
const heading = (name) => `---\ntitle: ${titles[name]}\n---\n\n# ${titles[name]}`;

const example = (text) => ['```js', text, '```'];
const value = (each) => (each === null || each === undefined ? '' : `\`${JSON.stringify(each)}\``);
const cell = (text) => text.replaceAll('|', '\\|');

function optionsTable(rows) {
  if (rows.length === 0) return [];
  return [
    '| option | default | meaning |',
    '|---|---|---|',
    ...rows.map(
      ({ name, default: standard, text }) => `| \`${name}\` | ${value(standard)} | ${cell(text)} |`,
    ),
    '',
  ];
}

const separated = (parts) => parts.flatMap((each) => [each, '']);

function layer(row) {
  const doc = docOf('layers', row);
  const options = row.options
    .filter(({ name }) => !commonOptions.includes(name))
    .map((each) => ({ ...each, text: optionText(row, each) }));
  return [
    `## ${row.name}`,
    '',
    ...separated(paragraphs(doc)),
    ...example(exampleOf(doc)),
    '',
    ...optionsTable(options),
  ];
}

function entry(table, row) {
  const doc = docOf(table, row);
  const options = row.parameters.map((each) => ({ ...each, text: parameterText(row, each) }));
  return [
    `### ${headingOf(row)}`,
    '',
    ...separated(paragraphs(doc)),
    ...example(doc.example ?? usage(table, row)),
    '',
    ...optionsTable(options),
  ];
}

function operation(row) {
  const doc = docOf('operations', row);
  const list = row.parameters.map((each) =>
    'default' in each ? `${each.name} = ${JSON.stringify(each.default)}` : each.name,
  );
  return [
    `## ${row.name}`,
    '',
    `\`${row.name}(${list.join(', ')})\``,
    '',
    ...separated(paragraphs(doc)),
    ...example(exampleOf(doc)),
    '',
  ];
}

const section = (title, table) => [
  `## ${title}`,
  '',
  ...tables[table].flatMap((row) => entry(table, row)),
];

/** The pages by file name. */
export const referencePages = () => ({
  'layers.md': [
    heading('layers'),
    '',
    'Factories of `tl.layers`. Shapes are those of one example with the batch first. Every layer also has the options of `LayerArgs`:',
    '`inputShape`, `name`, `trainable`, `weights` and others. Initializers, regularizers, constraints and activations are names or',
    'objects with a name: [Losses, metrics, optimizers and more](training.md).',
    '',
    ...tables.layers.flatMap(layer),
  ],
  'training.md': [
    heading('training'),
    '',
    'Names for `model.compile` and for the options of [layers](layers.md). In formulas x is the output of the model, y the label, w a',
    'weight, g its gradient, η the learning rate. A name with options is an object: `{ name: "huber", delta: 2 }`. Labels may be',
    'class indices or one-hot rows for every loss and metric.',
    '',
    ...section('Losses', 'losses'),
    ...section('Metrics', 'metrics'),
    ...section('Optimizers', 'optimizers'),
    ...section('Activations', 'activations'),
    ...section('Initializers', 'initializers'),
    ...section('Regularizers', 'regularizers'),
    ...section('Constraints', 'constraints'),
  ],
  'operations.md': [
    heading('operations'),
    '',
    'Methods of tensors, also inside `tl.compile` and custom layers, and functions of `g` there. The first parameter is the tensor',
    'itself. `tensorlathe/tfjs` has all functions of TensorFlow.js besides ([Which import](entries.md)).',
    '',
    ...tables.operations.flatMap(operation),
  ],
});

const tableNames = [
  'losses',
  'metrics',
  'optimizers',
  'activations',
  'initializers',
  'regularizers',
  'constraints',
];

/** What the search finds of them: the page by its title, the heading, a title and the text. */
export function referenceEntries() {
  const found = (page, kind, table, row, heading) => ({
    ...{ page, heading, title: `${row.name} (${kind})` },
    text: [row.name, ...paragraphs(docOf(table, row)), row.name].join(' '),
  });
  return [
    ...tables.layers.map((row) => found(titles.layers, 'layer', 'layers', row, row.name)),
    ...tableNames.flatMap((table) =>
      tables[table].map((row) =>
        found(titles.training, table.replace(/(ss)es$|s$/, '$1'), table, row, headingOf(row)),
      ),
    ),
    ...tables.operations.map((row) =>
      found(titles.operations, 'operation', 'operations', row, row.name),
    ),
  ];
}
