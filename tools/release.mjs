// Publishes the tarballs that `./dev pack` has made, once they work in an empty project: `./dev release`, with --publish in earnest.
// Before that it compares the version in js/package.json, CMakeLists.txt and CHANGELOG.md, and needs a clean work tree.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));

/** What speaks against a release of these files, a line each. */
export function obstacles({ manifest, cmake, changelog, status }) {
  const { version } = JSON.parse(manifest);
  const [, inCmake] = /project\(tensorlathe VERSION ([\d.]+)/.exec(cmake) ?? [];
  const [, heading = 'none'] = /^## (.+)$/m.exec(changelog) ?? [];
  return [
    inCmake !== version && `CMakeLists.txt has version ${inCmake}, js/package.json ${version}`,
    !heading.startsWith(version) &&
      `CHANGELOG.md begins with "${heading}", not with "${version} (date)"`,
    status !== '' && `the work tree has changes:\n${status}`,
  ].filter(Boolean);
}

/** Runs a program, and the command, of a new project that has only the tarballs. Error: one fails. */
function tryOut(tarballs) {
  const folder = mkdtempSync(join(tmpdir(), 'release-'));
  const run = (...words) =>
    execFileSync(words[0], words.slice(1), { cwd: folder, stdio: 'inherit' });
  try {
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    run('npm', 'install', '--no-audit', '--no-fund', '--offline', ...tarballs);
    const program =
      "import * as tl from 'tensorlathe'; console.log(tl.tensor([1, 2]).add(1).arraySync());";
    run('node', '--input-type=module', '--eval', program);
    run('npx', '--offline', 'tensorlathe', 'passes');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function main() {
  const read = (file) => readFileSync(join(root, file), 'utf8');
  const git = (...words) => execFileSync('git', words, { cwd: root, encoding: 'utf8' }).trim();
  const manifest = read('js/package.json');
  const { version } = JSON.parse(manifest);
  const [cmake, changelog] = [read('CMakeLists.txt'), read('CHANGELOG.md')];
  const found = obstacles({ manifest, cmake, changelog, status: git('status', '--porcelain') });
  const names = ['tensorlathe-linux-x64', 'tensorlathe'];
  const tarballs = names.map((name) => join(root, `build/${name}-${version}.tgz`));
  for (const tarball of tarballs.filter((each) => !existsSync(each)))
    found.push(`${tarball} is missing; ./dev pack makes it`);
  if (found.length > 0) throw new Error(found.join('\n'));
  tryOut(tarballs);
  const isReal = process.argv.includes('--publish');
  const dry = isReal ? [] : ['--dry-run'];
  for (const tarball of tarballs)
    execFileSync('npm', ['publish', tarball, '--access', 'public', ...dry], { stdio: 'inherit' });
  if (!isReal) {
    console.log('nothing was published; ./dev release --publish does it');
    return;
  }
  git('tag', '-a', `v${version}`, '-m', `Tensorlathe ${version}`);
  console.log(`published; next: git push origin v${version}, and what docs/releasing.md says`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  try {
    main();
  } catch (error) {
    console.error(`release: ${error.message}`);
    process.exitCode = 1;
  }
}
