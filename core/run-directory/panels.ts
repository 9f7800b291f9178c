import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { PanelHash } from '../contract/contract.ts';
import { Failure } from '../contract/failure.ts';
import { listEvaluationResults } from './evaluations.ts';
import { runFiles } from './names.ts';

/** The file with the levels of an evaluation (docs/formats/panels.md). */
interface PanelFile {
  /** Label of the environment, or name of the requested evaluation. */
  name: string;
  text: string;
}

/**
 * Returns the distinct panels of a run's own and requested evaluations, after a comparison with their hashes. `own`: the hashes in the
 * journal. Throws `panel_changed`.
 */
export async function readPanelFiles(folder: string, own: readonly PanelHash[]): Promise<PanelFile[]> {
  const requested = (await listEvaluationResults(folder)).map(({ name, panel }) => ({
    ...{ name, hash: panel, file: join(runFiles.evaluations, `${name}.panel.json`) },
  }));
  const ofRun = own.map(({ label, hash }) => ({ name: label, hash, file: join(runFiles.panels, `${label}.json`) }));
  const hashes = new Set<string>();
  const files: PanelFile[] = [];
  for (const { name, hash, file } of [...ofRun, ...requested]) {
    if (hash === null || hashes.has(hash)) continue;
    hashes.add(hash);
    // The journal of an imported run may name any path.
    const text = basename(name) === name ? await readFile(join(folder, file), 'utf8').catch(() => null) : null;
    if (text === null || createHash('sha256').update(text).digest('hex') !== hash) throw changed(file, hash);
    files.push({ name, text });
  }
  return files;
}

const changed = (file: string, hash: string) =>
  new Failure(
    'panel_changed',
    `${file} is missing or was changed: its SHA-256 is not ${hash}, which was recorded with the results.`,
    'Restore the file from a copy of the run.',
  );
