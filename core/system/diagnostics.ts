import { createWriteStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { homedir, userInfo } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import type { Finding, Machine, RunSummary, SystemInfo } from '../contract/contract.ts';
import { storedToken } from '../data-folder/host-file.ts';
import { runFiles, runFolder } from '../run-directory/names.ts';

/** Number of newest runs whose trainer log is included, and the size of the included tail. */
const runsWithLog = 10;
const logBytes = 64 << 10;

interface DiagnosticFacts {
  home: string;
  version: string;
  info: SystemInfo;
  machine: Machine;
  findings: readonly Finding[];
  /** Newest first. */
  runs: readonly RunSummary[];
  /** The app's recent log messages. */
  log: string;
}

/** Returns the files of a bug report, as texts by file name. User names and secrets are removed; notes and tags are not included. */
export async function diagnosticTexts(facts: DiagnosticFacts): Promise<Map<string, string>> {
  const { home, version, info, machine, findings, runs, log } = facts;
  const clean = cleaner(home);
  const json = (value: unknown) => clean(`${JSON.stringify(value, null, 2)}\n`);
  const texts = new Map([
    ['versions.json', json({ version, machine, trainer: info.trainer, cuda: info.cuda })],
    ['findings.json', json({ findings, devices: info.devices })],
    ['runs.json', json(runs.map(stateOf))],
    ['core.log', clean(log)],
  ]);
  for (const { id } of runs.slice(0, runsWithLog)) {
    const end = await readEnd(join(runFolder(home, id), runFiles.log));
    if (end !== null) texts.set(`trainers/${id}.log`, clean(end));
  }
  return texts;
}

export async function writeZip(path: string, texts: ReadonlyMap<string, string>): Promise<void> {
  const zip = new ZipFile();
  for (const [name, text] of texts) zip.addBuffer(Buffer.from(text), name);
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(path));
}

const stateOf = ({ id, preset, task, status, iteration, iterations, ...run }: RunSummary) => {
  const { failure, stalled, phase } = run;
  return { id, preset, task, status, iteration, iterations, failure, stalled, phase };
};

/** Returns a function that removes the user's name, home folder and the data folder's token from a string. */
function cleaner(home: string): (text: string) => string {
  const secrets: [string, string][] = [
    [storedToken(home) ?? '', '[token]'],
    [homedir(), '~'],
    [userInfo().username, '[user]'],
  ];
  return (text) => {
    let clean = text.replaceAll(/#sign-in=[0-9a-f]+/g, '#sign-in=[code]').replaceAll(/\bhf_\w{8,}/g, '[token]');
    // Skips names of up to four letters, such as root: they would match inside words.
    for (const [secret, word] of secrets)
      if (secret.length > 4 || secret === homedir()) clean = clean.replaceAll(secret, word);
    return clean;
  };
}

/** Returns the last `logBytes` of a file, or null if it was not found. */
async function readEnd(path: string): Promise<string | null> {
  const file = await open(path, 'r').catch(() => null);
  if (!file) return null;
  try {
    const { size } = await file.stat();
    const bytes = Buffer.alloc(Math.min(size, logBytes));
    await file.read(bytes, 0, bytes.length, size - bytes.length);
    return bytes.toString('utf8');
  } finally {
    await file.close();
  }
}
