// Writes the documentation to build/docs: the guides and the reference of JavaScript by TypeDoc, that of C++ by Doxygen, the index of
// the full-text search by Pagefind. What is read from data or drawn (reference pages, tables, figures) is put, with copies of the
// guides, into build/docs-source.
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { modelsPage } from './models.mjs';
import { tableOfNames } from './names.mjs';
import { referenceEntries, referencePages } from './reference.mjs';
import { writeFigures } from './figures.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const source = join(root, 'build/docs-source');
const target = join(root, 'build/docs');
const online = 'https://github.com/tensorlathe/tensorlathe/blob/main/';
/** The pages in the order of the site; those of the folder that are not named follow. */
const order =
  'start models onnx images sentences sounds functions own_layers threads gpu speed browsers standalone training_module entries known_models ' +
  'layers training operations operators from_tensorflow from_onnxruntime security cpp architecture';
const references =
  'Reference: [layers](layers.md), [losses, metrics and optimizers](training.md), [operations](operations.md), ' +
  '[known models and their speed](known_models.md), and everything else in the list beside this page.';

/** A guide as the site has it: without what only the tests of samples read, its links within the site. */
function prepared(text) {
  return text
    .replace(/^<!-- given[^]*?-->\n/gm, '')
    .replace('<!-- table of names -->', tableOfNames)
    .replace('<!-- reference -->', references)
    .replace(/\]\(https:[^)]*\/docs\/guides\/(\w+\.md)/g, (link, name) =>
      existsSync(join(root, 'docs/guides', name)) ? `](${name}` : link,
    )
    .replaceAll('](../training_module.md', '](training_module.md')
    .replaceAll('](../../', `](${online}`);
}

function copyGuides() {
  const write = (name, text) => writeFileSync(join(source, name), text);
  const read = (name) => prepared(readFileSync(join(root, name), 'utf8'));
  mkdirSync(join(source, 'guides'), { recursive: true });
  for (const name of readdirSync(join(root, 'docs/guides')).filter((each) => /md$/.test(each))) {
    write(join('guides', name), read(join('docs/guides', name)));
  }
  const module = read('docs/training_module.md');
  write(
    'guides/training_module.md',
    `---\ntitle: The standalone training module\n---\n\n${module}`,
  );
  write(
    'guides/operators.md',
    `---\ntitle: Operators of ONNX\n---\n\n${read('docs/operators.md')}`,
  );
  write('guides/known_models.md', `---\ntitle: Models\n---\n\n${modelsPage()}`);
  for (const [name, lines] of Object.entries(referencePages())) {
    write(join('guides', name), lines.join('\n'));
  }
  write('README.md', read('js/README.md').replaceAll(/\]\((\w+\.md)/g, '](guides/$1'));
  write('cpp.md', read('docs/guides/cpp.md').replace(/^---[^]*?---\n/, ''));
}

/** Error: it failed. */
function call(program, ...args) {
  const { status, error } = spawnSync(program, args, { cwd: root, stdio: 'inherit' });
  if (status !== 0) throw new Error(`${program} ended with ${error ?? status}`);
}

/** The guides for TypeDoc, in their order. */
function documents() {
  const names = readdirSync(join(source, 'guides')).filter((name) => name.endsWith('.md'));
  const first = order.split(' ').map((name) => `${name}.md`);
  const sorted = [
    ...first.filter((name) => names.includes(name)),
    ...names.filter((name) => !first.includes(name)),
  ];
  return sorted.flatMap((name) => ['--projectDocuments', join(source, 'guides', name)]);
}

/** Pages of which the search would show too many: names of kernels, and the lists of all members. */
const unsearched =
  /^(variables\/tensorlathe_tfjs\.[A-Z]|hierarchy|modules|cpp\/(functions|globals|namespacemembers))/;

/** The anchor that TypeDoc gives a heading. */
const anchorOf = (heading) =>
  heading
    .toLowerCase()
    .replace(/[^\w -]/g, '')
    .replaceAll(' ', '-');

/** A page of Doxygen with the search and the style of the others, and a link to them. */
const likeTheOthers = (text) =>
  text
    .replace(
      '</head>',
      '<link rel="stylesheet" href="../assets/custom.css" />\n<script defer src="../assets/custom.js"></script>\n</head>',
    )
    .replace(/(<div id="projectname">)Tensorlathe/, '$1<a href="../index.html">Tensorlathe</a>')
    .replace('<div class="title">', '<div class="title" data-pagefind-meta="title">');

/**
 * TypeDoc writes links of its bar as they are configured; they must be relative to each page's folder. Doxygen links to a
 * list of inner classes where it hides the list. Marks what the search indexes: guides first,
 * names that are those of TensorFlow.js last.
 */
function mendPages() {
  const files = readdirSync(target, { recursive: true, encoding: 'utf8' });
  for (const name of files.filter((each) => each.endsWith('.html'))) {
    const up = '../'.repeat(name.split('/').length - 1);
    const file = join(target, name);
    const weight = name.startsWith('documents/') ? 10 : name.includes('tensorlathe_tfjs') ? 0.3 : 1;
    const marks = unsearched.test(name)
      ? ''
      : ` data-pagefind-body data-pagefind-weight="${weight}"`;
    let text = readFileSync(file, 'utf8')
      .replaceAll('http://cpp.invalid/', `${up}cpp/index.html`)
      .replace(/<div class="(col-content|contents)">/, `<div class="$1"${marks}>`);
    if (name.startsWith('cpp/')) text = likeTheOthers(text);
    if (!text.includes('name="nested-classes"')) {
      text = text.replace(/<a href="#nested-classes">[^<]*<\/a>( &#124;)?/, '');
    }
    writeFileSync(file, text);
  }
}

/** Error: Pagefind failed. */
async function writeSearch() {
  const pagefind = await import('../../docs/node_modules/pagefind/lib/index.js');
  const { index } = await pagefind.createIndex();
  const added = await index.addDirectory({ path: target });
  for (const { page, heading, title, text } of referenceEntries()) {
    const url = `/documents/${page.replaceAll(' ', '_')}.html#${anchorOf(heading)}`;
    const record = { url, content: text, language: 'en', meta: { title } };
    added.errors.push(...(await index.addCustomRecord(record)).errors);
  }
  const written = await index.writeFiles({ outputPath: join(target, 'pagefind') });
  await pagefind.close();
  const errors = [...added.errors, ...written.errors];
  if (errors.length > 0) throw new Error(`pagefind: ${errors.join('; ')}`);
}

rmSync(source, { recursive: true, force: true });
rmSync(target, { recursive: true, force: true });
copyGuides();
await writeFigures(join(source, 'guides/figures'));
call(
  'node',
  'docs/node_modules/typedoc/bin/typedoc',
  '--options',
  'docs/typedoc.json',
  ...documents(),
);
if (spawnSync('doxygen', ['--version']).status === 0) {
  call('doxygen', 'docs/Doxyfile');
} else {
  mkdirSync(join(target, 'cpp'));
  cpSync(join(root, 'tools/docs/no_doxygen.html'), join(target, 'cpp/index.html'));
  console.log(
    'No Doxygen: build/docs/cpp has no reference of C++. `apt-get install doxygen` and rerun ./dev docs.',
  );
}
mendPages();
await writeSearch();
