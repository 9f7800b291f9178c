import { deepStrictEqual, match, ok, rejects } from 'node:assert';
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { RunSummary } from '../../core/contract/contract.ts';
import { asFailure } from '../../core/contract/failure.ts';
import { commandLine } from '../command-line.ts';
import { starpo } from '../core/fixtures/child.ts';
import { untilRun } from '../core/fixtures/world.ts';
import { endState } from '../integration/killing.ts';
import { type Site, untilIdle } from './slurm-site.ts';

/** Failures of nodes, of the controller and of the disk, and time limits. */
export const failureScenarios: Record<string, (site: Site) => Promise<object>> = {
  async killed_node(site) {
    site.target();
    await site.open();
    const settings = { iterations: 200, 'checkpoint.every': 10, 'evaluation.every': 50 };
    const undisturbed = await site.undisturbed(settings);
    const runId = await site.create(settings);
    await site.submit(runId);
    const { iteration } = await site.until(runId, (run) => run.iteration >= 25);
    const node = site.attempts(runId)[0]!.node;
    site.cluster.killNode(node);
    const statuses = recordStatuses(site, runId);
    const words = await site.words(runId, ({ phase, attempts }) => phase === 'running' && attempts === 2);
    await site.until(runId, ({ status }) => status === 'completed');
    const [, second] = site.attempts(runId);
    deepStrictEqual(endState(site.folder(runId)), endState(undisturbed));
    site.cluster.startNode(node);
    await untilIdle(4);
    return { killed_at_iteration: iteration, words, statuses: statuses(), second_attempt: second, equal_bits: true };
  },

  async time_limit(site) {
    site.target({ time: '1', grace: 30 });
    await site.open();
    const begin = performance.now();
    await site.undisturbed({ iterations: 100 });
    const pace = (performance.now() - begin) / 100;
    // Longer than one attempt, which lasts about half a minute.
    const iterations = Math.round(70_000 / pace);
    const settings = { iterations, 'checkpoint.every': iterations, 'evaluation.every': Math.round(iterations / 4) };
    const undisturbed = await site.undisturbed(settings);
    const runId = await site.create(settings);
    await site.submit(runId);
    const words = await site.words(runId, ({ phase }) => phase === 'ended');
    await site.until(runId, ({ status }) => status === 'completed');
    const attempts = site.attempts(runId).filter(({ type }) => type === 'begin').length;
    ok(attempts >= 2);
    deepStrictEqual(withoutOtherCheckpoints(site.folder(runId)), withoutOtherCheckpoints(undisturbed));
    return { iterations, attempts, words: [...new Set(words)], equal_bits: true };
  },

  async controller_down_for_a_minute(site) {
    site.target();
    const core = await site.open();
    const runId = await site.create({ iterations: 200, 'evaluation.every': 50 });
    await site.submit(runId);
    await site.until(runId, ({ iteration }) => iteration >= 5);
    site.cluster.stopController();
    const statuses = recordStatuses(site, runId);
    const texts = new Set<string>();
    for (const end = Date.now() + 60_000; Date.now() < end; await pause(1000)) {
      const { phase, text } = await site.job(runId);
      deepStrictEqual(phase, 'unknown');
      texts.add(text);
    }
    await rejects(site.handlers['cluster.act']({ runId, action: 'cancel' }) as Promise<unknown>, {
      code: 'slurm_unreachable',
    });
    await rejects(core.cluster.refuseActive(runId), { code: 'job_active' });
    deepStrictEqual(core.runs.get(runId).status, 'completed');
    site.cluster.startController();
    const words = await site.words(runId, ({ phase }) => phase === 'ended');
    deepStrictEqual(words.at(-1), 'ended');
    return { words: [...texts], statuses: statuses(), afterwards: words.at(-1) };
  },

  async two_apps_on_one_folder(site) {
    const first = starpo(['serve', '--port', '0'], site.world.environment());
    await first.line(/http:\/\//);
    const onOther = ['--uts', 'sh', '-c', 'echo login-2 > /proc/sys/kernel/hostname; exec "$@"', 'sh'];
    const command = [process.execPath, commandLine, 'cluster', 'jobs'];
    const env = site.world.environment();
    const here = spawnSync(command[0]!, command.slice(1), { env, encoding: 'utf8' });
    const elsewhere = spawnSync('unshare', [...onOther, ...command], { env, encoding: 'utf8' });
    await first.kill('SIGTERM');
    deepStrictEqual([here.status, elsewhere.status], [0, 1]);
    match(elsewhere.stderr, /data_folder_elsewhere/);
    return {
      same_machine: 'is served by the first app',
      other_machine: elsewhere.stderr.replaceAll(site.home, 'HOME').trim().split('\n'),
    };
  },

  async full_shared_disk(site) {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'none', site.home]);
    try {
      site.target();
      const core = await site.open();
      const settings = { iterations: 100, 'checkpoint.every': 10, 'evaluation.every': 50 };
      const undisturbed = await site.undisturbed(settings);
      const runId = await site.create(settings);
      await site.submit(runId);
      await site.until(runId, ({ iteration }) => iteration >= 15);
      const [filler, reserve] = ['filler', 'reserve'].map((name) => join(site.home, name)) as [string, string];
      writeFileSync(reserve, Buffer.alloc(8 << 20));
      const fill = () => spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=4k'], { stdio: 'ignore' });
      fill();
      const words = await site.words(runId, ({ phase }) => phase === 'ended');
      // The run history needs space before it can record that the run failed.
      rmSync(reserve);
      // The run is interrupted if the trainer had no space to record its failure.
      await untilRun(core, runId, ({ status }) => status === 'failed' || status === 'interrupted');
      fill();
      const refused = await site.submit(runId).then(
        () => null,
        (error) => asFailure(error).code,
      );
      deepStrictEqual(refused, 'disk_full');
      rmSync(filler);
      await core.supervisor.scanNow();
      const { status, failure } = core.runs.get(runId);
      await site.submit(runId);
      // It has failed until the second job starts.
      await untilRun(core, runId, (run) => run.status === 'completed');
      deepStrictEqual(endState(site.folder(runId)), endState(undisturbed));
      return { words, refused, status, failure: failure?.code ?? null, afterwards: 'completed', equal_bits: true };
    } finally {
      await site.world.end();
      execFileSync('umount', ['--lazy', site.home]);
    }
  },
};

/** Records the statuses of a run from now on. Returns a function that returns them in order. */
function recordStatuses(site: Site, runId: string): () => string[] {
  const seen: string[] = [];
  site.core.notices.on((name, payload) => {
    if ((name as string) !== 'run') return;
    const { id, status } = payload as unknown as RunSummary;
    if (id === runId && status !== seen.at(-1)) seen.push(status);
  });
  return () => seen;
}

/** Returns the end state of a run with its last checkpoint only: an attempt that reaches its time limit writes one more. */
function withoutOtherCheckpoints(folder: string) {
  const { end, events, files } = endState(folder);
  const last = readdirSync(join(folder, 'checkpoints'))
    .filter((name) => /^\d+$/.test(name))
    .sort()
    .at(-1)!;
  const isOther = (key: string) => key.startsWith('checkpoints/') && !key.includes(last);
  const keep = (entries: object, drop: (key: string) => boolean) =>
    Object.fromEntries(Object.entries(entries).filter(([key]) => !drop(key)));
  return {
    end,
    events: keep(events, (key) => key.startsWith('checkpoint ') && !key.endsWith(` ${Number(last)}`)),
    files: keep(files, isOther),
  };
}
