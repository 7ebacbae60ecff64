// `lathe completion`: what bash, zsh and fish complete.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { run, skip } from '../../command.mjs';

const folder = mkdtempSync(join(tmpdir(), 'completion-'));
after(() => rmSync(folder, { recursive: true }));

/** A test with the script of the shell, skipped where that is not installed. */
function testIn(shell, title, body) {
  const missing =
    spawnSync(shell, ['-c', 'true']).status === 0 ? false : `${shell} is not installed`;
  test(`${shell} ${title}`, { skip: skip || missing }, () => {
    writeFileSync(join(folder, `in_${shell}`), run('completion', shell));
    writeFileSync(join(folder, 'model.json'), '{}');
    body((script, ...flags) => {
      const { stdout, stderr } = spawnSync(shell, [...flags, '-c', script], {
        cwd: folder,
        encoding: 'utf8',
        timeout: 60_000,
        env: { ...process.env, HOME: folder, TERM: 'dumb' },
      });
      assert.equal(stderr, '');
      return stdout.trim();
    });
  });
}

testIn('bash', 'completes verbs, flags and the words of flags', (shell) => {
  const complete = (...words) =>
    shell(
      `source ./in_bash; COMP_WORDS=(${words.map((each) => `'${each}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _lathe; echo "\${COMPREPLY[*]}"`,
    );
  assert.equal(complete('lathe', 'co'), 'compile convert completion');
  assert.equal(complete('lathe', 'compile', '--ba'), '--batch');
  assert.equal(complete('lathe', 'compile', '--labels', '=', 'sp'), 'sparse');
  assert.equal(complete('lathe', 'compile', '--labels', 'd'), 'dense');
  assert.equal(complete('lathe', 'convert', '--quantize', '='), 'float16 uint16 uint8');
  assert.equal(complete('lathe', 'convert', '--weights', '='), 'float16 int8 int4');
  assert.equal(complete('lathe', 'run', '--layout', '='), 'nchw nhwc');
  assert.equal(complete('lathe', 'help', 'w'), 'wat');
  assert.equal(complete('lathe', 'completion', ''), 'bash zsh fish');
  assert.equal(complete('lathe', 'inspect', 'mod'), 'model.json');
});

testIn('fish', 'completes verbs, flags, the words of flags and files', (shell) => {
  const complete = (line) =>
    shell(`source ./in_fish; complete -C '${line}'`, '--no-config')
      .split('\n')
      .map((each) => each.split('\t')[0]);
  assert.deepEqual(complete('lathe co').sort(), ['compile', 'completion', 'convert']);
  assert.deepEqual(complete('lathe --v'), ['--version']);
  assert.deepEqual(complete('lathe compile --ba'), ['--batch']);
  assert.deepEqual(complete('lathe compile --labels=sp'), ['--labels=sparse']);
  assert.deepEqual(complete('lathe convert --quantize ').sort(), ['float16', 'uint16', 'uint8']);
  assert.deepEqual(complete('lathe help w'), ['wat']);
  assert.deepEqual(complete('lathe completion '), ['bash', 'fish', 'zsh']);
  assert.deepEqual(complete('lathe inspect mod'), ['model.json']);
  assert.deepEqual(complete('lathe passes mod'), ['']);
  assert.match(
    shell("source ./in_fish; complete -C 'lathe wa'", '--no-config'),
    /^wat\tprint a module as text$/i,
  );
});

// What a zsh on a terminal of its own reads first; ^P prints the line that is being edited between < and >.
const setup = `PS1=
unsetopt beep prompt_sp
unset zle_bracketed_paste
autoload -Uz compinit
compinit -u -D
source ./in_zsh
show() { print -r -- "<$BUFFER>"; BUFFER= }
zle -N show
bindkey '^P' show
`;
const typed = (lines) => `
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z 'source ./setup; print rea""dy'
zpty -r -m z text '*ready*'
for line in ${lines.map((each) => `'${each}'`).join(' ')}; do
  zpty -w -n z "$line"$'\\t\\C-p'
  zpty -r -m z text '*<*>*'
  print -r -- "\${\${text##*<}%%>*}"
done
zpty -d z`;

testIn('zsh', 'completes verbs, flags, the words of flags and files', (shell) => {
  writeFileSync(join(folder, 'setup'), setup);
  const cases = {
    'lathe conv': 'lathe convert ',
    'lathe --v': 'lathe --version ',
    'lathe compile --ba': 'lathe compile --batch=',
    'lathe compile --labels=sp': 'lathe compile --labels=sparse ',
    'lathe convert --quantize f': 'lathe convert --quantize float16 ',
    'lathe help w': 'lathe help wat ',
    'lathe completion f': 'lathe completion fish ',
    'lathe inspect mod': 'lathe inspect model.json ',
    'lathe compile -o mod': 'lathe compile -o model.json ',
    'lathe passes mod': 'lathe passes mod',
  };
  assert.deepEqual(shell(typed(Object.keys(cases)), '-f').split('\n'), Object.values(cases));
});
