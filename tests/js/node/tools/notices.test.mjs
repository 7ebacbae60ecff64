// Third-party notices of the npm package: they contain the license of everything linked and bundled; inputs without one fail.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import {
  archiveNotices,
  linkedFiles,
  noticesOf,
  packageNotices,
  packagesOf,
} from '../../../../js/scripts/notices.mjs';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const dist = join(root, 'js/dist');
const node_modules = join(root, 'node_modules');
const built = join(root, 'build/wasm32');
const published = () => readFileSync(join(root, 'build/package/THIRD_PARTY_NOTICES'), 'utf8');
const libc = '/usr/lib/wasm32-wasi/libc.a';

const folder = mkdtempSync(join(tmpdir(), 'notices-'));
after(() => rmSync(folder, { recursive: true }));
const write = (path, text) => {
  mkdirSync(resolve(folder, path, '..'), { recursive: true });
  writeFileSync(join(folder, path), text);
  return join(folder, path);
};

/** The notices of a build folder that links one module of these inputs, and of these bundled modules. */
function noticesOfLink(inputs, bundled = []) {
  const command = `: && wasm-ld-19 -m wasm32 -L/usr/lib/wasm32-wasi ${inputs} -o lathe-core.wasm && :`;
  write('build.ninja', `rule link\n  command = ${command}\nbuild lathe-core.wasm: link\n`);
  return noticesOf({ folder, linked: ['lathe-core.wasm'], bundled, sources: dist, node_modules });
}

test('the package has the licenses of all that is linked', () => {
  const text = published();
  for (const part of [
    /^crt1-reactor\.o, libc\.a of Debian's wasi-libc \S/m,
    /^libc\+\+\.a of Debian's libc\+\+-19-dev-wasm32 \S/m,
    /^libc\+\+abi\.a of Debian's libc\+\+abi-19-dev-wasm32 \S/m,
    /^libclang_rt\.builtins-wasm32\.a of Debian's libclang-rt-19-dev-wasm32 \S/m,
    /Files: libc-top-half\/musl\/\*\nCopyright: 2005-2019 Rich Felker/,
    /Upstream-Name: LLVM\/Clang/,
    /LLVM Exceptions to the Apache 2\.0 License/,
    // License files that they cite by path are included in full.
    /^\/usr\/share\/common-licenses\/Apache-2\.0\n=+\n[^]*TERMS AND CONDITIONS FOR USE/m,
    /^\/usr\/share\/common-licenses\/CC0-1\.0\n=+\n[^]*Statement of Purpose/m,
  ]) {
    assert.match(text, part);
  }
  const { files } = JSON.parse(readFileSync(join(root, 'build/package/package.json'), 'utf8'));
  assert.ok(files.includes('THIRD_PARTY_NOTICES'));
});

test('the package has the licenses of all that is bundled', async () => {
  const { exports } = JSON.parse(readFileSync(join(root, 'js/package.json'), 'utf8'));
  const names = Object.values(exports).flatMap((each) => each.import?.default ?? []);
  const entries = names
    .filter((name) => !/bundle/.test(name))
    .map((name) => join(root, 'js', name));
  const { peerDependencies } = JSON.parse(readFileSync(join(root, 'js/package.json'), 'utf8'));
  const { metafile } = await build({
    entryPoints: [...entries, join(dist, 'runtime/worker.js')],
    bundle: true,
    write: false,
    metafile: true,
    format: 'esm',
    outdir: 'unused',
    external: ['node:*', ...Object.keys(peerDependencies)],
    logLevel: 'error',
  });
  const paths = Object.keys(metafile.inputs).map((path) => resolve(path));
  assert.ok(paths.length > 100);
  const text = published();
  for (const each of packagesOf(paths, dist)) {
    const { name, version } = JSON.parse(readFileSync(join(each, 'package.json'), 'utf8'));
    assert.ok(text.includes(`\n${name} ${version}\n`), name);
  }
  // Bundlers insert helper functions of their packages.
  assert.match(text, /^esbuild \d[^]*^Copyright \(c\) 2020 Evan Wallace/m);
  assert.match(text, /^rolldown \d[^]*^Copyright \(c\) 2024-present VoidZero/m);
});

test('an archive of no package fails, however it is linked', () => {
  const stranger = write('a folder/libstranger.a', '!<arch>\n');
  const message = new RegExp(
    `no license of the linked archive ${stranger}: dpkg-query: no path found`,
  );
  for (const inputs of [
    `-lc "${stranger}"`,
    `-lc ${stranger.replace(' ', '\\ ')}`,
    `-lc '${stranger}'`,
    `"-L${folder}/a folder" -lc -lstranger`,
    `-lc a\\ folder/libstranger.a`,
  ]) {
    assert.throws(() => noticesOfLink(inputs), message, inputs);
  }
  write('_deps/other/CMakeFiles/other.dir/other.cc.obj', '');
  write('_deps/other/liblathe_other.a', '!<arch>\n');
  for (const each of ['CMakeFiles/other.dir/other.cc.obj', 'liblathe_other.a']) {
    const input = `_deps/other/${each}`;
    assert.throws(() => noticesOfLink(`-lc ${input}`), new RegExp(`archive ${folder}/${input}: `));
  }
  assert.throws(
    () => noticesOfLink('-lc -lmissing'),
    /linked archive -lmissing is not among: \/usr/,
  );
  assert.throws(() => noticesOfLink('-lc @inputs.rsp'), /reads its inputs from @inputs\.rsp/);
  assert.throws(() => noticesOfLink('-lc missing.a'), /missing\.a does not exist; \.\/dev setup/);
  assert.match(noticesOfLink('-lc'), /^libc\.a of Debian's wasi-libc/m);
});

test('archives and objects of the repository need no notice', () => {
  const inputs =
    'src/api/wasm/liblathe_api.a src/CMakeFiles/a.dir/b.cc.obj CMakeFiles/c.dir/src/d.cc.obj';
  const command = `: && wasm-ld-19 -z stack-size=1048576 -L/usr/lib/wasm32-wasi ${inputs} -o x.wasm -lc && :`;
  assert.deepEqual(linkedFiles(command, built), [libc]);
  assert.throws(() => linkedFiles('clang++-19 x.o', built), /no wasm-ld in the link commands/);
});

test('errors of missing copyright files and builds name the command to run', () => {
  assert.throws(
    () => archiveNotices([libc], folder),
    /linked archive .*\/libc\.a: .*\/wasi-libc\/copyright is missing; apt-get install --reinstall wasi-libc/,
  );
  const empty = join(folder, 'empty');
  const options = { folder: empty, linked: [], bundled: [], own: dist, node_modules };
  assert.throws(
    () => noticesOf(options),
    /empty\/build\.ninja, .* is missing; \.\/dev build makes it/,
  );
});

test('an npm package that is bundled is in the notices; without a license it fails', () => {
  const inside = [join(dist, 'index.js'), '\0rolldown/runtime.js'];
  assert.deepEqual(packagesOf(inside, dist), []);
  const scoped = join(node_modules, '@protobufjs/base64');
  const pako = join(node_modules, 'pako');
  const paths = [...inside, join(scoped, 'index.js'), join(pako, 'lib/inflate.js')];
  assert.deepEqual(packagesOf(paths, dist), [scoped, pako]);
  assert.match(noticesOfLink('-lc', paths), /^pako \d[^]*Vitaly Puzrin/m);
  const outside = () => packagesOf(['/tmp/stranger.js'], dist);
  assert.throws(outside, /no license of the bundled module \/tmp\/stranger\.js: it is of no npm/);
  const manifest = write('node_modules/bare/package.json', '{"name":"bare","version":"1.0.0"}');
  write('node_modules/bare/NOTICE', 'A notice is no license.');
  assert.throws(
    () => packageNotices([resolve(manifest, '..')]),
    /no license of the bundled npm package bare: .*\/bare has no LICENSE file/,
  );
});
