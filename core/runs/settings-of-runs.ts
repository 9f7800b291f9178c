import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunSetting, RunSettings } from '../contract/contract.ts';
import { leavesOf } from '../contract/run-details.ts';
import { runFiles, runFolder } from '../run-directory/names.ts';

/** Files read at the same time, far below the limit of open files. */
const concurrentReads = 64;

/** Reads the settings of runs from their run.json. Omits runs without a readable one. */
export async function settingsOfRuns(home: string, runIds: readonly string[]): Promise<RunSettings> {
  const read: { runId: string; values: Map<string, RunSetting> }[] = [];
  for (let from = 0; from < runIds.length; from += concurrentReads) {
    const part = runIds.slice(from, from + concurrentReads);
    const configs = await Promise.all(part.map((runId) => readConfig(runFolder(home, runId))));
    for (const [index, config] of configs.entries())
      if (config !== undefined) read.push({ runId: part[index]!, values: leavesOf(config) });
  }
  const paths = new Set(read.flatMap(({ values }) => [...values.keys()]));
  return {
    runIds: read.map(({ runId }) => runId),
    settings: [...paths].map((path) => ({ path, values: read.map(({ values }) => values.get(path) ?? null) })),
  };
}

/** Returns undefined if the file can't be read. */
async function readConfig(folder: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(join(folder, runFiles.config), 'utf8'));
  } catch {
    return undefined;
  }
}
