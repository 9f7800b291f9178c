import { deepStrictEqual, ok, rejects } from 'node:assert';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { priceText } from '../../core/host/commands/cluster.ts';
import { type Site, slurm } from './slurm-site.ts';

/** Jobs that wait, run and are canceled on a healthy cluster. */
export const queueScenarios: Record<string, (site: Site) => Promise<object>> = {
  async array_of_16(site) {
    site.target();
    const core = await site.open();
    const points = [
      { name: 'low', set: {} },
      { name: 'high', set: { 'optimizer.learning_rate': 1e-4 } },
    ];
    const first = await site.create({ iterations: 40 });
    const study = { name: 'Sixteen', base: { run: first }, points, seeds: [1, 2, 3, 4, 5, 6, 7, 8], start: false };
    const { id: studyId } = (await site.handlers['studies.create'](study as never)) as { id: string };
    const plan = await site.handlers['cluster.plan']({ target: 'slurm', jobs: { studyId } });
    const price = priceText(plan.price);
    await site.handlers['studies.submit']({ studyId, target: 'slurm' });
    const runIds = core.runs
      .list()
      .map(({ id }) => id)
      .filter((id) => id !== first);
    deepStrictEqual(runIds.length, 16);
    await Promise.all(runIds.map((runId) => site.until(runId, ({ status }) => status === 'completed')));
    const attempts = runIds.map((runId) => site.attempts(runId));
    for (const each of attempts) deepStrictEqual([each.length, each[1]?.code], [2, 0]);
    const perNode: Record<string, number> = {};
    for (const [begin] of attempts) perNode[begin!.node] = (perNode[begin!.node] ?? 0) + 1;
    deepStrictEqual(Object.keys(perNode).sort(), ['n1', 'n2', 'n3', 'n4']);
    return { price, completed: runIds.length, attempts_per_run: 1, runs_per_node: perNode };
  },

  async canceled_while_pending(site) {
    site.target({ extra: ['--begin=now+1hour'] });
    const core = await site.open();
    const runId = await site.create();
    await site.submit(runId);
    const [waiting] = await site.words(runId, ({ phase }) => phase === 'pending');
    await rejects(core.runs.start(runId), { code: 'job_active' });
    await site.handlers['cluster.act']({ runId, action: 'cancel' });
    const canceled = (await site.words(runId, ({ phase }) => phase === 'ended')).at(-1);
    deepStrictEqual(canceled, 'was canceled');
    deepStrictEqual(core.runs.get(runId).status, 'created');
    ok(!existsSync(join(site.folder(runId), 'attempts.jsonl')));
    site.target();
    await site.submit(runId);
    await site.until(runId, ({ status }) => status === 'completed');
    return { while_pending: waiting, afterwards: canceled, submitted_again: 'completed' };
  },

  async never_runnable(site) {
    site.target({ extra: ['--begin=now+1hour'] });
    await site.open();
    const [accepted, refused] = [await site.create(), await site.create()];
    const job = await site.submit(accepted);
    site.target();
    slurm('scontrol', 'update', 'PartitionName=gpu', 'MaxTime=5');
    try {
      slurm('scontrol', 'update', `JobId=${job}`, 'StartTime=now');
      const words = await site.words(accepted, ({ impossible }) => impossible);
      await site.handlers['cluster.act']({ runId: accepted, action: 'cancel' });
      const problem = await site.submit(refused).then(
        () => null,
        (error: { code: string; message: string }) => error,
      );
      deepStrictEqual(problem?.code, 'job_never_runs');
      return { after_a_change_of_the_partition: words.at(-1), on_submission: problem.message };
    } finally {
      slurm('scontrol', 'update', 'PartitionName=gpu', 'MaxTime=INFINITE');
    }
  },
};
