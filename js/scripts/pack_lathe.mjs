// Packs the command `lathe` of the native build into build/package-linux-x64, an npm package that `npx tensorlathe` finds next to
// its own. It is no optional dependency of that: unless npm has published it, `npm ci` fails in projects that install a tarball.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const target = join(root, 'build/package-linux-x64');
const manifest = JSON.parse(readFileSync(join(root, 'js/package.json'), 'utf8'));
const { version, license, repository } = manifest;
const program = join(target, 'bin/lathe');

rmSync(target, { recursive: true, force: true });
mkdirSync(join(target, 'bin'), { recursive: true });
execFileSync('strip', ['-o', program, join(root, 'build/native/tools/lathe')]);
copyFileSync(join(root, 'LICENSE'), join(target, 'LICENSE'));

const linked = execFileSync('objdump', ['-p', program], { encoding: 'utf8' });
const versions = [...linked.matchAll(/GLIBC_2\.(\d+)/g)].map(([, minor]) => Number(minor));
const glibc = `2.${Math.max(...versions)}`;
const [other] = /NEEDED +lib(?!c\.|m\.|gcc_s\.)\S+/.exec(linked) ?? [];
if (other) throw new Error(`the program is not portable: ${other}`);

const packed = {
  name: 'tensorlathe-linux-x64',
  version,
  description: `The command lathe of the package tensorlathe for Linux x64 with glibc ${glibc} or later.`,
  license,
  repository: { ...repository, directory: 'tools' },
  os: ['linux'],
  cpu: ['x64'],
  libc: ['glibc'],
  bin: { lathe: './bin/lathe' },
  peerDependencies: { [manifest.name]: version },
  peerDependenciesMeta: { [manifest.name]: { optional: true } },
  files: ['bin'],
};
writeFileSync(join(target, 'package.json'), `${JSON.stringify(packed, null, 2)}\n`);
const readme = `# ${packed.name}

${packed.description} Next to \`tensorlathe\`, \`npx tensorlathe\` runs it for \`compile\`, \`convert\`, \`run\`, \`wat\` and what else only
the command does; \`npx lathe help\` lists that.
`;
writeFileSync(join(target, 'README.md'), readme);
