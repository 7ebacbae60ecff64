// Writes the documentation to build/docs: the guides and the reference of JavaScript by TypeDoc, that of C++ by Doxygen. What is
// read from data or drawn (the table of names, figures) is put into copies of the guides in build/docs-source.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { tableOfNames } from './names.mjs';
import { writeFigures } from './figures.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const source = join(root, 'build/docs-source');
const target = join(root, 'build/docs');
const online = 'https://github.com/tensorlathe/tensorlathe/blob/main/';

/** A guide as the site has it: without what only the tests of samples read, its links within the site. */
function prepared(text) {
  return text
    .replace(/^<!-- given[^]*?-->\n/gm, '')
    .replace('<!-- table of names -->', tableOfNames)
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
  write('README.md', read('js/README.md').replaceAll(`](${online}docs/guides/`, '](guides/'));
  write('cpp.md', read('docs/guides/cpp.md').replace(/^---[^]*?---\n/, ''));
}

/** Error: it failed. */
function call(program, ...args) {
  const { status, error } = spawnSync(program, args, { cwd: root, stdio: 'inherit' });
  if (status !== 0) throw new Error(`${program} ended with ${error ?? status}`);
}

/**
 * TypeDoc writes links of its bar as they are configured; they must be relative to each page's folder. Doxygen links to a
 * list of inner classes where it hides the list.
 */
function mendLinks() {
  const files = readdirSync(target, { recursive: true, encoding: 'utf8' });
  for (const name of files.filter((each) => each.endsWith('.html'))) {
    const up = '../'.repeat(name.split('/').length - 1);
    const file = join(target, name);
    let text = readFileSync(file, 'utf8').replaceAll('http://cpp.invalid/', `${up}cpp/index.html`);
    if (!text.includes('name="nested-classes"')) {
      text = text.replace(/<a href="#nested-classes">[^<]*<\/a>( &#124;)?/, '');
    }
    writeFileSync(file, text);
  }
}

rmSync(source, { recursive: true, force: true });
rmSync(target, { recursive: true, force: true });
copyGuides();
await writeFigures(join(source, 'guides/figures'));
call('node', 'docs/node_modules/typedoc/bin/typedoc', '--options', 'docs/typedoc.json');
if (spawnSync('doxygen', ['--version']).status === 0) {
  call('doxygen', 'docs/Doxyfile');
} else {
  mkdirSync(join(target, 'cpp'));
  cpSync(join(root, 'tools/docs/no_doxygen.html'), join(target, 'cpp/index.html'));
  console.log(
    'No Doxygen: build/docs/cpp has no reference of C++. `apt-get install doxygen` and rerun ./dev docs.',
  );
}
mendLinks();
