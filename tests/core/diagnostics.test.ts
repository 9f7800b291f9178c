import { readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { fromBuffer } from 'yauzl';
import { createClient } from '../../core/contract/client.ts';
import { parseGpuLine } from '../../core/system/gpu-monitor.ts';
import { starpoHere } from './fixtures/command.ts';
import * as journal from './fixtures/journal.ts';
import { World } from './fixtures/world.ts';

let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(() => world.close());

const unzip = (bytes: Buffer) =>
  new Promise<Map<string, string>>((resolve, reject) => {
    fromBuffer(bytes, { lazyEntries: false }, (error, zip) => {
      if (error) return reject(error);
      const texts = new Map<string, string>();
      zip.on('entry', (entry) =>
        zip.openReadStream(entry, (problem, stream) => {
          if (problem) return reject(problem);
          let text = '';
          stream.setEncoding('utf8').on('data', (piece: string) => {
            text += piece;
          });
          stream.on('end', () => {
            texts.set(entry.fileName, text);
            if (texts.size === zip.entryCount) resolve(texts);
          });
        }),
      );
    });
  });

test('a diagnostics file contains what a bug report needs and no secrets', async () => {
  const folder = world.run('some-run', [journal.started(0), journal.iteration(1, 1)]);
  const studio = await world.studio();
  const token = readFileSync(join(world.home, 'token'), 'utf8').trim();
  const log = `token ${token}\nopen http://127.0.0.1:1/#sign-in=${'a'.repeat(32)}\n${homedir()}/x\nhf_abcdefghijk\nended: out of memory\n`;
  writeFileSync(join(folder, 'trainer.log'), log);
  const client = createClient(await studio.open());
  await client.call('runs.annotate', { runId: 'some-run', note: 'my private note' });
  const out = join(world.folder, 'report.zip');
  const made = await starpoHere(['diagnostics', '--out', out], world.environment());
  expect(made).toMatchObject({ status: 0, output: out });
  const texts = await unzip(readFileSync(out));
  expect([...texts.keys()].sort()).toEqual(
    ['core.log', 'findings.json', 'runs.json', 'trainers/some-run.log', 'versions.json'].sort(),
  );
  expect(JSON.parse(texts.get('runs.json')!)).toMatchObject([{ id: 'some-run', iteration: 1 }]);
  expect(texts.get('trainers/some-run.log')).toContain('ended: out of memory');
  const all = [...texts.values()].join('\n');
  for (const secret of [token, 'sign-in=a', 'hf_abc', 'my private note', `${homedir()}/x`])
    expect(all).not.toContain(secret);
  const again = await starpoHere(['diagnostics', '--out', out], world.environment());
  expect(again.errors).toContain('details: export_exists');
});

test('gauges list the devices of the machine and their current load', async () => {
  const core = await world.core();
  const { machine, samples } = core.gauges.read();
  expect(machine.cores).toBeGreaterThan(0);
  const [{ cpu, memoryBytes, diskFreeBytes }] = samples as [(typeof samples)[0]];
  expect(cpu >= 0 && cpu <= 1).toBe(true);
  expect(memoryBytes).toBeLessThanOrEqual(machine.memoryBytes);
  expect(diskFreeBytes).toBeLessThanOrEqual(machine.diskBytes);
});

test.each([
  [
    '0, GPU-1, NVIDIA H200, 143771, 1024, 87, 45, 312.45',
    {
      index: 0,
      card: { name: 'NVIDIA H200', uuid: 'GPU-1', memoryBytes: 143771 * 2 ** 20 },
      now: { busy: 0.87, memoryBytes: 2 ** 30, celsius: 45, watts: 312.45 },
    },
  ],
  [
    '1, GPU-2, NVIDIA GB10, [N/A], [N/A], 3, 40, [N/A]',
    {
      index: 1,
      card: { name: 'NVIDIA GB10', uuid: 'GPU-2', memoryBytes: null },
      now: { busy: 0.03, memoryBytes: null, celsius: 40, watts: null },
    },
  ],
  ['Failed to initialize NVML: Driver/library version mismatch', null],
  ['', null],
])('the nvidia-smi output %j is parsed', (line, gpu) => expect(parseGpuLine(line)).toEqual(gpu));
