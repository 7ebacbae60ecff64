// THIRD_PARTY_NOTICES of the package: the licenses of what is linked into the WebAssembly modules and of npm packages with code in
// the published files. Its sources are the link commands, the bundlers' lists of modules and the license files that Debian and npm
// install: a new dependency is in the notices, or packing fails.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, realpathSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';

/** Archives and objects of this repository, relative to the build folder. */
const LOCAL_OUTPUTS =
  /^(?:src\/(?:\w+\/)+liblathe_\w+\.a|(?:src\/(?:\w+\/)*)?CMakeFiles\/.+\.obj)$/;
const LINK_INPUT = /\.(?:a|o|obj|bc|lo|so|wasm)$/;
const LICENSES = '/usr/share/common-licenses';
/** Id of rolldown's runtime module. */
const ROLLDOWN_RUNTIME = '\0rolldown/runtime.js';

/**
 * The text of the notices. `linked` are WebAssembly modules (`lathe-core.wasm`, …) that the build folder `folder` links; `bundled`
 * are absolute paths, or ids, of modules that bundlers read; those below `sources` are of this repository.
 * Error: the license of an archive or of a bundled module is not found.
 */
export function noticesOf({ folder, linked, bundled, sources, node_modules }) {
  const archives = archiveNotices(linkedFiles(linkCommands(folder, linked), folder));
  const bundlers = ['esbuild', 'rolldown'].map((name) => join(node_modules, name));
  const packages = packageNotices([...bundlers, ...packagesOf(bundled, sources)]);
  const cited = commonLicenses(archives.map(({ text }) => text).join('\n'));
  const sections = [
    {
      title: 'Third-party software in the npm package tensorlathe',
      text: `The license of the package itself is in the file LICENSE. Of these libraries code is linked into its
WebAssembly modules, which are in files (*.wasm) and inlined in JavaScript. Of these npm packages code is in
its JavaScript files; of the bundlers esbuild and rolldown these are helper functions. Last come the licenses
that notices cite by their path in Debian.`,
    },
    ...archives,
    ...packages,
    ...cited,
  ];
  const rule = '='.repeat(80);
  return sections.map(({ title, text }) => `${rule}\n${title}\n${rule}\n\n${text}\n`).join('\n');
}

/** The commands that link these modules, as ninja runs them in the build folder. */
function linkCommands(folder, modules) {
  if (!existsSync(join(folder, 'build.ninja')))
    throw new Error(
      `${folder}/build.ninja, which names the linked archives, is missing; ./dev build makes it`,
    );
  return output('ninja', '-C', folder, '-t', 'commands', '-s', ...modules);
}

/**
 * The absolute paths of the archives and objects in link commands that are not of this repository, sorted.
 * Error: `-l` names an archive in no folder of `-L`, or a response file hides the inputs.
 */
export function linkedFiles(commands, folder) {
  const links = [...commands.matchAll(/\bwasm-ld\S*\s+(.*?)(?= && |$)/gm)];
  if (links.length === 0) throw new Error(`no wasm-ld in the link commands: ${commands}`);
  const inputs = new Set(links.flatMap(([, line]) => inputsOf(line, folder)));
  return [...inputs].filter((input) => !LOCAL_OUTPUTS.test(relative(folder, input))).sort();
}

function inputsOf(line, folder) {
  const quoted = line.match(/(?:"(?:\\.|[^"\\])*"|'[^']*'|\\.|[^\s"'\\])+/g) ?? [];
  const words = quoted.map((word) => word.replace(/\\(.)|["']/g, '$1'));
  const folders = words.filter((word) => word.startsWith('-L')).map((word) => word.slice(2));
  return words.flatMap((word, index) => {
    if (word.startsWith('@'))
      throw new Error(
        `the linker reads its inputs from ${word}; the notices need them in the command`,
      );
    if (word.startsWith('-l')) {
      const files = folders.map((each) => resolve(folder, each, `lib${word.slice(2)}.a`));
      const file = files.find((each) => existsSync(each));
      if (file === undefined)
        throw new Error(`the linked archive ${word} is not among: ${files.join(', ')}`);
      return [file];
    }
    return LINK_INPUT.test(word) && words[index - 1] !== '-o' ? [resolve(folder, word)] : [];
  });
}

/**
 * A notice for the Debian packages of linked files, one for packages with the same text: their names, versions and files, and the
 * copyright file. Error: no package has a file, or its copyright file is missing.
 */
export function archiveNotices(files, documents = '/usr/share/doc') {
  const packages = grouped(files, debianPackageOf);
  const texts = grouped(packages.keys(), (name) =>
    copyrightOf(name, packages.get(name), documents),
  );
  const titleOf = (name) => {
    const version = output('dpkg-query', '-W', '-f', '${Version}', name);
    return `${packages
      .get(name)
      .map((file) => basename(file))
      .join(', ')} of Debian's ${name} ${version}`;
  };
  return [...texts].map(([text, names]) => ({ title: names.map(titleOf).join('\n'), text }));
}

function debianPackageOf(file) {
  const fix =
    'link archives of Debian packages only, or teach js/scripts/notices.mjs where its license is';
  if (!existsSync(file))
    throw new Error(
      `the linked archive ${file} does not exist; ./dev setup installs what is missing`,
    );
  try {
    return output('dpkg', '-S', realpathSync(file)).replace(/(?::\w+)?: .*/s, '');
  } catch (error) {
    throw new Error(`no license of the linked archive ${file}: ${messageOf(error)}; ${fix}`);
  }
}

function copyrightOf(name, files, documents) {
  const path = join(documents, name, 'copyright');
  const fix = `apt-get install --reinstall ${name} restores it, unless a path-exclude in /etc/dpkg/dpkg.cfg.d leaves it out`;
  if (!existsSync(path))
    throw new Error(
      `no license of the linked archive ${files.join(', ')}: ${path} is missing; ${fix}`,
    );
  return readFileSync(path, 'utf8').trim();
}

/** The licenses that copyright files name by their path instead of their text. */
function commonLicenses(text) {
  const paths = text.match(new RegExp(`${LICENSES}/[\\w.+-]*\\w`, 'g')) ?? [];
  return [...new Set(paths)].sort().map((path) => {
    if (!existsSync(path))
      throw new Error(`${path} is missing; apt-get install --reinstall base-files restores it`);
    return { title: path, text: readFileSync(path, 'utf8').trim() };
  });
}

/**
 * The folders of the npm packages among the modules that bundlers read, sorted.
 * Error: a module is neither of a package nor below `sources`.
 */
export function packagesOf(bundled, sources) {
  const folders = new Set();
  for (const id of bundled) {
    const folder = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(id)?.[0];
    if (folder !== undefined) folders.add(folder);
    else if (id !== ROLLDOWN_RUNTIME && relative(sources, id).startsWith('..'))
      throw new Error(
        `no license of the bundled module ${id}: it is of no npm package; import it from one`,
      );
  }
  return [...folders].sort();
}

/** A notice for each folder of an npm package. Error: it has no license file. */
export function packageNotices(folders) {
  return folders.map((folder) => {
    const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const files = readdirSync(folder)
      .filter((file) => /^(?:third-party-)?(?:licen[sc]e|copying|notice)/i.test(file))
      .sort();
    if (!files.some((file) => !/^notice/i.test(file)))
      throw new Error(
        `no license of the bundled npm package ${name}: ${folder} has no LICENSE file; make it a peer dependency, which is not bundled`,
      );
    return {
      title: `${name} ${version}`,
      text: files.map((file) => readFileSync(join(folder, file), 'utf8').trim()).join('\n\n'),
    };
  });
}

function grouped(values, keyOf) {
  const groups = new Map();
  for (const value of values) {
    const key = keyOf(value);
    groups.set(key, [...(groups.get(key) ?? []), value]);
  }
  return groups;
}

function output(program, ...args) {
  const env = { ...process.env, LC_ALL: 'C' };
  return execFileSync(program, args, { encoding: 'utf8', env, stdio: ['ignore', 'pipe', 'pipe'] });
}

const messageOf = (error) => error.stderr?.trim() || error.message;
