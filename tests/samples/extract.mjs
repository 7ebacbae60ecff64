// The samples of Markdown files. What a sample needs and its reader has stands in a comment before it:
// `<!-- given`, on the lines after that the code, `-->`; `<!-- given, in a page` where it does not run in Node.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));

const pattern =
  /(?:^<!-- given(?<page>, in a page)?\n(?<given>[^]*?)-->\n\n?)?^```(?<language>\w+)\n(?<text>[^]*?)^```$/gm;

/** The Markdown files of a folder that have samples, as paths from the root. */
const filesOf = (folder) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name));

/** All samples: their file, line, language and text, what is given, and whether they need a page. */
export function samples() {
  const files = ['README.md', 'js/README.md', ...filesOf('docs'), ...filesOf('docs/guides')];
  return files.flatMap((file) => {
    const whole = readFileSync(join(root, file), 'utf8');
    return [...whole.matchAll(pattern)].map(({ index, groups }) => {
      const { page, given = '', language, text } = groups;
      const line = whole.slice(0, whole.indexOf('```', index)).split('\n').length;
      return { file, line, language, text, given, inPage: page !== undefined };
    });
  });
}
