import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { checkDocuments } from '../scripts/lib/doc-links.mjs';

function problemsOf(files: Record<string, string>): string[] {
  const root = mkdtempSync(join(tmpdir(), 'starpo-documents-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const [file, text] of Object.entries({ 'package.json': '{"scripts": {"test": ""}}', ...files })) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  return checkDocuments(root);
}

test('reports links to missing files and headings, and missing npm scripts', () => {
  expect(
    problemsOf({
      'README.md':
        '[a](docs/a.md#the-second) [b](docs/b.md) [c](docs/a.md#third)\n\n`npm run test` `npm run --silent fast`',
      'docs/a.md':
        '# A\n\n```sh\n# third\n```\n\n## The `second`\n\n[above](#a) [home](../README.md) [web](https://a.b/c)\n',
      'docs/formats/c.md': '[gone](../b.md)\n',
    }),
  ).toEqual([
    'README.md: docs/b.md was not found.',
    "README.md: docs/a.md#third names a heading that doesn't exist.",
    'README.md: package.json has no script fast.',
    'docs/formats/c.md: ../b.md was not found.',
  ]);
});

test('headings with the same text are numbered', () => {
  expect(problemsOf({ 'docs/a.md': '# Keys\n# Keys\n[1](#keys) [2](#keys-1) [3](#keys-2)' })).toEqual([
    "docs/a.md: #keys-2 names a heading that doesn't exist.",
  ]);
});
