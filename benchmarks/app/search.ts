/**
 * Measures episode search over 100,000 episodes: indexes rollout files with invented reasoning as the app does, then searches words that
 * occur in all, some and none, with and without filters.
 * Usage: node benchmarks/app/search.ts [--episodes 100000] [--out FILE]
 */
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { zstdCompressSync } from 'node:zlib';
import type { Input } from '../../core/contract/contract.ts';
import { databaseFile } from '../../core/history/files.ts';
import { createCore } from '../../core/index.ts';
import { baseConfig } from '../../core/presets/base.ts';
import { randomNumbers } from '../bootstrap.ts';
import { commandArguments, compactJson, machine } from '../machine.ts';

const { values } = parseArgs({
  options: { episodes: { type: 'string', default: '100000' }, out: { type: 'string' } },
});
const perFile = 128;
const filesPerRun = 50;
const repetitions = 20;
const episodeCount = Number(values.episodes);

const home = mkdtempSync(join(tmpdir(), 'starpo-search-'));
try {
  const runs = Math.ceil(episodeCount / (perFile * filesPerRun));
  for (let run = 0; run < runs; run++)
    writeRun(run, Math.min(filesPerRun, Math.ceil(episodeCount / perFile) - run * filesPerRun));
  const core = await createCore({ home, log: () => {} });
  const before = performance.now();
  await core.episodeIndex.indexAll();
  const reading = (performance.now() - before) / 1000;
  // The reader thread starts with the first query.
  const { indexed } = await core.history.reader.call('search', { text: '' });
  const results = [];
  for (const query of queries())
    results.push({ query, ...(await timed(() => core.history.reader.call('search', query))) });
  const all = results.flatMap(({ times }) => times).sort((a, b) => a - b);
  await core.dispose();
  const report = {
    machine: machine(),
    command: `npm run benchmark:search${commandArguments()}`,
    load: loadavg()[0]!.toFixed(1),
    episodes: indexed,
    readPerSecond: Math.round(indexed / reading),
    bytesPerEpisode: Math.round(statSync(databaseFile(home)).size / indexed),
    milliseconds: { median: quantile(all, 0.5), p95: quantile(all, 0.95), longest: quantile(all, 1) },
    slowest: results
      .map(({ query, times, found }) => ({ query, found, p95: quantile(times, 0.95) }))
      .sort((a, b) => b.p95 - a.p95)
      .slice(0, 5),
  };
  console.log(compactJson(report));
  if (values.out) writeFileSync(resolve(values.out), `${compactJson(report)}\n`);
} finally {
  rmSync(home, { recursive: true, force: true });
}

function queries(): Input<'episodes.search'>[] {
  const texts = ['', 'player', 'go', 'goal safe path', '"safe path"', 'w17', 'w9 w40', 'rare250', 'nothing', 'pl'];
  const filters: Partial<Input<'episodes.search'>>[] = [
    {},
    { success: true },
    { environment: 'sokoban' },
    { runId: 'run-00003', success: false },
    { offset: 2000 },
  ];
  return texts.flatMap((text) => filters.map((filter) => ({ text, ...filter })));
}

async function timed(search: () => Promise<{ episodes: unknown[] }>): Promise<{ times: number[]; found: number }> {
  let found = 0;
  const times: number[] = [];
  for (let repetition = 0; repetition < repetitions; repetition++) {
    const start = performance.now();
    found = (await search()).episodes.length;
    times.push(performance.now() - start);
  }
  return { times: times.sort((a, b) => a - b), found };
}

function quantile(sorted: readonly number[], share: number): number {
  return Number(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!.toFixed(2));
}

/** Writes a completed run with that many rollout files. */
function writeRun(run: number, files: number): void {
  const id = `run-${String(run).padStart(5, '0')}`;
  const folder = join(home, 'runs', id);
  mkdirSync(join(folder, 'rollouts'), { recursive: true });
  writeFileSync(join(folder, 'run.json'), JSON.stringify(baseConfig));
  const lines = Array.from({ length: files }, (_, iteration) => {
    const stem = `rollouts/${String(iteration).padStart(6, '0')}-train`;
    writeRollout(folder, stem, run, iteration);
    const event = { iteration, split: 'train', file: `${stem}.jsonl.zst`, index: `${stem}.index.json` };
    return { v: 1, seq: iteration, time: iteration, type: 'rollout', ...event, episodes: perFile };
  });
  const end = { v: 1, seq: files, time: files, type: 'stopped', reason: 'completed', iteration: files };
  writeFileSync(join(folder, 'events.jsonl'), [...lines, end].map((each) => `${JSON.stringify(each)}\n`).join(''));
}

function writeRollout(folder: string, stem: string, run: number, iteration: number): void {
  const frames: Buffer[] = [];
  const episodes: object[] = [];
  let offset = 0;
  for (let index = 0; index < perFile; index++) {
    const draw = randomNumbers(run * 1e6 + iteration * 1e3 + index);
    const summary = {
      id: `${String(iteration).padStart(6, '0')}-train-${String(index).padStart(4, '0')}`,
      ...{ iteration, split: 'train', environment: run % 2 === 0 ? 'frozen-lake' : 'sokoban' },
      ...{ group: index >> 4, member: index & 15, seed: index, reward: draw(), success: draw() < 0.5 },
      ...{ ended: 'done', turns: 4, actions: 8, tokens: 80, kept: true, format_valid: true },
    };
    const steps = Array.from({ length: 4 }, () => ({
      response: '',
      think: thought(draw),
      answer: 'Down || Right',
    }));
    const frame = zstdCompressSync(JSON.stringify({ ...summary, steps }));
    episodes.push({ ...summary, offset, length: frame.length });
    frames.push(frame);
    offset += frame.length;
  }
  writeFileSync(join(folder, `${stem}.jsonl.zst`), Buffer.concat(frames));
  writeFileSync(join(folder, `${stem}.index.json`), JSON.stringify({ version: 1, episodes }));
}

/** Returns about a dozen words: some constant, some of fifty, rarely one of a thousand. */
function thought(draw: () => number): string {
  const words = Array.from({ length: 8 }, () => `w${Math.floor(draw() ** 2 * 50)}`);
  const rare = draw() < 0.1 ? ` rare${Math.floor(draw() * 1000)}` : '';
  const path = draw() < 0.3 ? ' goal safe path' : ' go';
  return `player ${Math.floor(draw() * 4)},${Math.floor(draw() * 4)} ${words.join(' ')}${path}${rare}`;
}
