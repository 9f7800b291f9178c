import { resolve } from 'node:path';
import { defaultResources } from '../../base/home.ts';
import { quoted } from '../../base/quoted.ts';
import { findTrainer, trainerCandidates } from '../../trainer/executable.ts';
import { print, table, warn } from '../output.ts';
import { buildIndex, type CatalogueCounts } from '../webshop/build-index.ts';
import { type CheckedFile, checkFile, findFiles } from '../webshop/catalogue-files.ts';
import { officialGoals, whereToFind } from '../webshop/official-files.ts';

const verdicts = {
  official: 'the published file',
  different: 'not the published file of this name',
  own: 'not a published file',
};

/** Checks the files of a WebShop catalogue, builds its indexes and prints the setting that uses it. */
export async function importCatalogue(folderName: string, { json = false }: { json?: boolean }): Promise<void> {
  const folder = resolve(folderName);
  const trainer = findTrainer(trainerCandidates(process.env.STARPO_RESOURCES ?? defaultResources));
  const { found, missing } = findFiles(folder);
  const files: CheckedFile[] = [];
  for (const file of found)
    files.push(await checkFile(folder, file, (done) => show(`checking ${file.name}`, done, 1e6, 'MB')));
  const hasHuman = missing.every(({ name }) => !name.startsWith('items_human_ins'));
  const build = (human: boolean) =>
    buildIndex(trainer, folder, human, ({ stage, done }) =>
      show(stage === 'products' ? 'reading products' : 'indexing products', done, 1, ''),
    );
  const synthetic = await build(false);
  const human = hasHuman ? await build(true) : null;
  clearLine();
  if (json) return print(JSON.stringify({ catalogue: folder, files, missing, synthetic, human }, null, 2));
  print(table(files.map(({ name, content, verdict }) => [name, content, verdicts[verdict]])));
  for (const { name, content, optional } of missing)
    print(`missing: ${name}, ${content}. Without it, ${optional} can't be true. ${whereToFind}`);
  print(`${synthetic.products} products, ${countsText(synthetic, human)}`);
  print(
    synthetic.products_with_nouns === 0
      ? 'title nouns: heuristic, because the folder has no nouns.tsv with its products'
      : `title nouns: nouns.tsv covers ${synthetic.products_with_nouns} products`,
  );
  for (const text of unexpected(files, synthetic, human)) warn(text);
  print(`use it with --set environments.0.config.catalogue=${quoted(folder)}`);
}

const countsText = (synthetic: CatalogueCounts, human: CatalogueCounts | null) =>
  `${synthetic.goals} synthetic goals${human ? `, ${human.goals} human goals` : ''}`;

/** Compares the numbers of goals with the documented ones if all files are the published ones. */
function unexpected(
  files: readonly CheckedFile[],
  synthetic: CatalogueCounts,
  human: CatalogueCounts | null,
): string[] {
  if (files.some(({ verdict }) => verdict !== 'official')) return [];
  const expected = files.map(({ name }) => officialGoals[name]).find((each) => each !== undefined);
  const differs = (kind: string, goals: number | undefined, documented: number | undefined) =>
    goals !== undefined && documented !== undefined && goals !== documented
      ? [`WebShop documents ${documented} ${kind} goals for these files, but ${goals} were read.`]
      : [];
  return [
    ...differs('synthetic', synthetic.goals, expected?.synthetic),
    ...differs('human', human?.goals, expected?.human),
  ];
}

/** Shows progress in one line of a terminal. */
function show(text: string, done: number, unit: number, name: string): void {
  if (!process.stderr.isTTY) return;
  process.stderr.write(`\r\x1b[K${text}: ${Math.floor(done / unit)} ${name}`);
}

const clearLine = () => process.stderr.isTTY && process.stderr.write('\r\x1b[K');
