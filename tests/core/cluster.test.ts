import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { Cluster } from '../../core/cluster/cluster.ts';
import { readJobFile, writeJobFile } from '../../core/cluster/job-file.ts';
import { describeJob, describeTest } from '../../core/cluster/job-words.ts';
import { priceOf } from '../../core/cluster/price.ts';
import { slurmScript } from '../../core/cluster/script.ts';
import { parseAccounting, parseJob, parseQueue, slurmFailure } from '../../core/cluster/slurm.ts';
import { limitSeconds, slurmTarget } from '../../core/contract/cluster-targets.ts';
import { priceText } from '../../core/host/commands/cluster.ts';
import { writeWhole } from '../../core/run-directory/write-whole.ts';
import { clusterWith } from './fixtures/cluster-with.ts';
import { World } from './fixtures/world.ts';

vi.mock('../../core/run-directory/write-whole.ts', { spy: true });

// Outputs recorded from Slurm 22.05.
const queue = `5|PENDING|Dependency|N/A||N/A|0
7|PENDING|PartitionNodeLimit|N/A||N/A|0
8_7|PENDING|Resources|N/A||N/A|0
6|PENDING|JobHeldUser|N/A||N/A|7
8_0|PENDING|BeginTime|2026-11-26T09:06:59||N/A|0
4|RUNNING|None|2026-11-26T09:06:50|n1|2026-11-26T09:11:50|0
8_1|RUNNING|None|2026-11-26T09:06:50|n2|NONE|0
`;
const task =
  'JobId=15 ArrayJobId=8 ArrayTaskId=6 ArrayTaskThrottle=8 JobName=arr UserId=root(0) GroupId=root(0) Priority=4294901753 Nice=0 JobState=RUNNING Reason=None Dependency=(null) Requeue=1 Restarts=0 BatchFlag=1 Reboot=0 ExitCode=0:0 RunTime=00:00:03 TimeLimit=UNLIMITED StartTime=2026-11-26T09:06:50 EndTime=Unknown NodeList=n4 BatchHost=n4';
const canceled =
  'JobId=4 JobName=starpo-a UserId=root(0) GroupId=root(0) Priority=4294901756 Nice=0 JobState=CANCELLED Reason=None Dependency=(null) Requeue=1 Restarts=1 ExitCode=3:0 StartTime=2026-11-26T09:06:50 EndTime=2026-11-26T09:06:51 NodeList=n1 BatchHost=n1';

test('the state and the reason of each job are described', () => {
  const words = parseQueue(queue).map((job) => [job.job, describeJob(job, true)] as const);
  expect(words.map(([job, { phase, text }]) => `${job} ${phase}: ${text}`)).toEqual([
    '5 pending: waits until an earlier job of this run has ended',
    '7 pending: can never run (PartitionNodeLimit): it requests more than its partition allows. Cancel the job and correct the settings of the cluster.',
    '8_7 pending: waits for free nodes or GPUs',
    '6 pending: is held; release it to let it start',
    '8_0 pending: was requeued and starts again at 2026-11-26 09:06:59',
    '4 running: is running on n1 (started 2026-11-26 09:06:50)',
    '8_1 running: is running on n2 (started 2026-11-26 09:06:50)',
  ]);
  expect(words.map(([, { impossible }]) => impossible)).toEqual([false, true, false, false, false, false, false]);
  const limit = Date.parse('2026-11-26T09:11:50');
  expect(words.map(([, each]) => each.limit)).toEqual([null, null, null, null, null, limit, null]);
  expect(words.map(([, { held, nice }]) => [held, nice])).toEqual([
    ...[
      [false, 0],
      [false, 0],
      [false, 0],
      [true, 7],
      [false, 0],
    ],
    ...[
      [false, null],
      [false, null],
    ],
  ]);
});

test.each<[string, string]>([
  ['QOSMaxJobsPerUserLimit', 'waits because a limit of your account is reached (QOSMaxJobsPerUserLimit)'],
  ['ReqNodeNotAvail,_UnavailableNodes:n[1-4]', 'waits for nodes that are down or reserved'],
  ['SomethingNew', 'waits (SomethingNew)'],
  ['BeginTime', 'starts later'],
  ['launch_failed_requeued_held', 'is held because its node could not start it; release it to try again'],
  [
    'InvalidQOS',
    'can never run (InvalidQOS): the cluster does not accept its request. Cancel the job and correct the settings of the cluster.',
  ],
])('the reason %s is described', (reason, text) => {
  const [job] = parseQueue(`9|PENDING|${reason}|N/A||N/A|0`);
  expect(describeJob(job!)).toMatchObject({ text, impossible: reason === 'InvalidQOS' });
});

test('ended jobs are read from scontrol and sacct', () => {
  expect(parseJob(task)).toMatchObject({ job: '8_6', state: 'RUNNING', nodes: 'n4', start: '2026-11-26T09:06:50' });
  expect(parseJob(canceled)).toMatchObject({ job: '4', restarts: 1, exitCode: '3:0' });
  expect(describeJob(parseJob(canceled)!)).toMatchObject({ phase: 'ended', text: 'was canceled' });
  expect(parseJob('')).toBeNull();
  expect(describeJob(parseAccounting('12|FAILED|7:0\n')!)).toMatchObject({
    text: 'failed with exit code 7',
    failed: true,
  });
  expect(describeJob(parseJob(canceled)!).failed).toBe(false);
  expect(describeJob(parseAccounting('12|CANCELLED by 1000|0:15')!).text).toBe('was canceled');
  expect(describeJob(parseAccounting('12|OUT_OF_MEMORY|0:125')!).text).toContain('increase the host memory');
  expect(parseAccounting('Slurm accounting storage is disabled')).toBeNull();
});

test.each<[string, string, string]>([
  [
    'sbatch: error: invalid partition specified: nope\nallocation failure: Invalid partition name specified\n',
    'slurm_refused',
    'Slurm rejected the request: Invalid partition name specified.',
  ],
  ['allocation failure: Requested node configuration is not available\n', 'slurm_refused', 'not available.'],
  ['slurm_load_jobs error: Unable to contact slurm controller (connect failure)\n', 'slurm_unreachable', 'unknown'],
  ['slurm_load_jobs error: Socket timed out on send/recv operation\n', 'slurm_unreachable', 'does not answer'],
  ['slurm_load_jobs error: Invalid job id specified\n', 'job_unknown', 'no record'],
  ['sbatch: fatal: Could not establish a configuration source\n', 'slurm_missing', 'no configuration on this machine'],
])('the error %j is recognized', (errors, code, message) => {
  const failure = slurmFailure('sbatch', { code: 1, killed: false, message: 'Command failed' }, errors);
  expect(failure).toMatchObject({ code, message: expect.stringContaining(message) });
});

test('a program that is not installed is reported', () => {
  const missing = Object.assign(new Error('spawn sbatch ENOENT'), { code: 'ENOENT' });
  expect(slurmFailure('sbatch', missing as never, '')).toMatchObject({ code: 'slurm_missing' });
});

const trainer = { path: '/trainer', variables: {} };
const target = slurmTarget.parse({ type: 'slurm', partition: 'gpu', time: '4:00:00', memory: '32G' });

test('the script of a run has the settings of its target, and quotes paths', () => {
  const script = slurmScript({ run: 'lake-1', folder: "/data/it's 5%/runs/lake-1" }, target, '/opt/starpo/trainer');
  const options = script.split('\n').filter((line) => line.startsWith('#SBATCH'));
  expect(options.map((line) => line.slice('#SBATCH '.length))).toEqual([
    '--job-name=starpo-lake-1',
    '--dependency=singleton',
    '--comment=starpo:lake-1',
    `--output="/data/it's 5%%/runs/lake-1/slurm.log"`,
    '--requeue',
    '--open-mode=append',
    '--signal=B:USR1@300',
    '--partition=gpu',
    '--time=4:00:00',
    '--nodes=1',
    '--ntasks=1',
    '--cpus-per-task=4',
    '--gpus-per-node=1',
    '--mem=32G',
  ]);
  expect(script).toContain(`\nrun='/data/it'\\''s 5%/runs/lake-1'\n`);
  expect(script).toContain(
    `\n'/opt/starpo/trainer' train "$run" --device cuda >> "$run/trainer.log" 2>&1 & trainer=$!\n`,
  );
});

test('the script of a sweep is an array; set-up lines and a container come before the trainer', () => {
  const own = {
    ...target,
    gpus: 0,
    setup: ['module load gcc'],
    prefix: 'apptainer exec --bind $$,$& image.sif',
    extra: ['--exclusive'],
  };
  const job = {
    study: 'clip',
    folder: '/data/jobs/clip',
    runs: Array.from({ length: 16 }, (_, index) => `/data/it's/runs/clip-${index}`),
    simultaneous: 8,
  };
  const script = slurmScript(job, { ...own, trainer: '/trainer' }, '/other');
  expect(script).toContain('#SBATCH --array=0-15%8\n');
  expect(script).toContain('#SBATCH --output="/data/jobs/clip/slurm-%A_%a.log"\n');
  expect(script).not.toMatch(/singleton|gpus-per-node/);
  // In the script: a task that is requeued later must not read the runs of a newer array.
  expect(script).toContain(
    "#SBATCH --exclusive\nmodule load gcc\nruns=(\n'/data/it'\\''s/runs/clip-0'\n'/data/it'\\''s/runs/clip-1'\n",
  );
  expect(script).toContain(`clip-15'\n)\nrun=\${runs[SLURM_ARRAY_TASK_ID]}\n`);
  expect(script).toContain(`\napptainer exec --bind $$,$& image.sif '/trainer' train "$run" --device cpu >>`);
});

test.each<[object, string]>([
  [{ type: 'slurm' }, 'targets.slurm.time'],
  [{ type: 'slurm', time: '4 hours' }, 'must be like 4:00:00'],
  [{ type: 'slurm', time: '1:00:00', partition: 'a\n#SBATCH --x' }, 'targets.slurm.partition'],
  [{ type: 'slurm', time: '1:00:00', setup: ['a\nb'] }, 'must be one line'],
  [{ type: 'slurm', time: '1:00:00', partitions: 'gpu' }, 'partitions'],
  [{ type: 'slurm', time: '5' }, 'targets.slurm.grace must be shorter than the time limit'],
])('the invalid target %j is refused', async (invalid, message) => {
  const home = mkdtempSync(join(tmpdir(), 'starpo-targets-'));
  writeFileSync(join(home, 'targets.json'), JSON.stringify({ version: 1, targets: { slurm: invalid } }));
  const cluster = new Cluster({ home, trainer });
  expect(() => cluster.script('run', 'slurm')).toThrow(
    expect.objectContaining({ code: 'targets_invalid', message: expect.stringContaining(message) }),
  );
  rmSync(home, { recursive: true });
});

test('the price of a sweep is stated in hours', () => {
  expect(['90', '5:30', '4:00:00', '1-12', '1-12:30:00'].map(limitSeconds)).toEqual([
    5400, 330, 14_400, 129_600, 131_400,
  ]);
  const limited = { ...target, simultaneous: 8 };
  expect(priceText(priceOf(16, limited, 5400, true))).toBe(
    "16 jobs with at most 64 GPU hours per attempt, about 3 h 0 min with 8 at once at this machine's speed",
  );
  // The limit is for the jobs of a sweep.
  expect(priceOf(16, limited, 5400, false)).toMatchObject({ atOnce: 16, seconds: 5400 });
  expect(priceText(priceOf(1, { ...target, gpus: 0 }, null, false))).toBe(
    '1 job with at most 16 CPU hours per attempt',
  );
});

test('a job is unknown while the controller does not answer, and is found by its name if its id was lost', async () => {
  const world = new World();
  const folder = world.run('lake');
  writeJobFile(folder, { target: 'slurm', job: null, submitted: 1 });
  let answers = false;
  const run = async (program: string, args: readonly string[]) => {
    if (!answers) throw slurmFailure(program, { code: 1, message: '' }, 'Unable to contact slurm controller');
    return args.includes('-n') ? '4\n' : queue;
  };
  const cluster = new Cluster({ home: world.home, trainer, slurm: { run, interval: -1 } });
  expect(await cluster.jobs.list(['lake'])).toMatchObject([{ run: 'lake', phase: 'unknown' }]);
  writeJobFile(folder, { target: 'slurm', job: '4', submitted: 1 });
  expect(await cluster.jobs.list(['lake'])).toMatchObject([{ job: '4', phase: 'unknown' }]);
  await expect(cluster.refuseActive('lake')).rejects.toMatchObject({ code: 'job_active' });
  writeJobFile(folder, { target: 'slurm', job: null, submitted: 1 });
  answers = true;
  expect(await cluster.jobs.list(['lake', 'other'])).toMatchObject([
    { job: '4', phase: 'running', limit: Date.parse('2026-11-26T09:11:50') },
  ]);
  expect(readJobFile(folder)).toMatchObject({ job: '4' });
  await world.close();
});

test('a script that has changed since it was shown is not submitted', async () => {
  const world = new World();
  const { cluster, calls } = clusterWith(world, () => '');
  const script = cluster.script('a', 'slurm');
  cluster.targets.save('slurm', { ...target, time: '20' }, 'slurm');
  const read = { text: script, run: 'a' };
  await expect(cluster.submit('a', 'slurm', read)).rejects.toMatchObject({ code: 'script_changed' });
  // The scripts of several runs differ in the run; the user reads the first.
  await expect(cluster.submit('b', 'slurm', read)).rejects.toMatchObject({ code: 'script_changed' });
  const array = cluster.studyScript('clip', ['a'], 'slurm');
  await expect(cluster.submitStudy('clip', ['a', 'b'], 'slurm', array)).rejects.toMatchObject({
    code: 'script_changed',
  });
  expect(calls).toEqual([]);
  await expect(cluster.submit('b', 'slurm', { text: cluster.script('a', 'slurm'), run: 'a' })).rejects.toMatchObject({
    code: 'job_unknown',
  });
  expect(readFileSync(join(world.home, 'runs/b/slurm.sh'), 'utf8')).toBe(cluster.script('b', 'slurm'));
  await world.close();
});

test('a run that is being submitted can be neither started nor submitted again, and its job may run the confirmed commands', async () => {
  const world = new World();
  const answer = Promise.withResolvers<string>();
  const { calls, cluster } = clusterWith(world, (_, args) => (args.includes('--parsable') ? answer.promise : ''));
  const submission = cluster.submitStudy('clip', ['a', 'b'], 'slurm');
  await expect(cluster.refuseActive('b')).rejects.toMatchObject({ code: 'job_active' });
  await expect(cluster.submit('b', 'slurm')).rejects.toMatchObject({ code: 'job_active' });
  answer.resolve('8\n');
  expect(await submission).toBe('8');
  expect(calls.find(({ args }) => args.includes('--parsable'))!.options).toMatchObject({
    env: { STARPO_CONFIRMED_COMMANDS: 'digest' },
  });
  await world.close();
});

test('the job of a sweep whose id was lost is found by the sweep and its index', async () => {
  const world = new World();
  const { cluster } = clusterWith(world, (program, args) => {
    if (args.includes('--parsable')) throw slurmFailure(program, { code: 1, message: '' }, 'Socket timed out');
    if (args.includes('-n')) return args.includes('starpo-clip') ? '7_1\n8_0\n8_1\n' : '';
    return program === 'squeue' ? queue : '';
  });
  await expect(cluster.submitStudy('clip', ['a', 'b'], 'slurm')).rejects.toMatchObject({ code: 'slurm_unreachable' });
  expect(await cluster.jobs.list(['a', 'b'])).toMatchObject([
    { job: '8_0', phase: 'pending' },
    { job: '8_1', phase: 'running' },
  ]);
  await expect(cluster.refuseActive('b')).rejects.toMatchObject({ code: 'job_active' });
  await world.close();
});

test('a job that Slurm accepts although it can never run is canceled, and the run can be submitted again', async () => {
  const world = new World();
  const { calls, cluster } = clusterWith(world, (program, args) =>
    args.includes('--parsable')
      ? 'Welcome to the lab\n7;lab\n'
      : program === 'squeue'
        ? '7|PENDING|PartitionConfig|N/A||30:00\n'
        : '',
  );
  await expect(cluster.submit('a', 'slurm')).rejects.toMatchObject({
    code: 'job_never_runs',
    message: 'Job 7 can never run (PartitionConfig): it requests more than its partition allows. It was canceled.',
  });
  expect(calls.at(-1)).toMatchObject({ program: 'scancel', args: ['7'] });
  const folder = join(world.home, 'runs/a');
  expect(readJobFile(folder)).toBeNull();
  // How its earlier job ended stays known.
  const ended = { state: 'FAILED', exitCode: '1:0' };
  writeJobFile(folder, { target: 'slurm', job: '4', submitted: 1, ended });
  await expect(cluster.submit('a', 'slurm')).rejects.toMatchObject({ code: 'job_never_runs' });
  expect(readJobFile(folder)).toMatchObject({ job: '4', ended });
  await world.close();
});

test('an ended job that is requeued is active again, also on a full disk', async () => {
  const world = new World();
  let queued = '';
  const { cluster } = clusterWith(world, (program, args) => {
    if (args[0] === 'requeue') queued = queue;
    return program === 'squeue' ? queued : args.includes('show') ? canceled : '';
  });
  writeJobFile(world.run('a'), { target: 'slurm', job: '4', submitted: 1 });
  await cluster.refuseActive('a');
  expect(readJobFile(join(world.home, 'runs/a'))?.ended).toMatchObject({ state: 'CANCELLED' });
  vi.mocked(writeWhole).mockImplementationOnce(() => {
    throw Object.assign(new Error(), { code: 'ENOSPC' });
  });
  await cluster.act('a', 'requeue');
  expect(await cluster.jobs.list(['a'])).toMatchObject([{ job: '4', phase: 'running' }]);
  await expect(cluster.refuseActive('a')).rejects.toMatchObject({ code: 'job_active' });
  await world.close();
});

test('the answer to a test of the script becomes a sentence, and the script is not saved', async () => {
  const world = new World();
  const answer = 'sbatch: Job 1 to start at 2026-11-26T12:26:33 using 1 processors on nodes n1 in partition gpu\n';
  const { calls, cluster } = clusterWith(world, () => answer);
  const files = readdirSync(world.home);
  expect(await cluster.check('slurm')).toBe('A job could start at 2026-11-26 12:26:33 on n1 in partition gpu.');
  expect(describeTest('sbatch: job accepted\n')).toBe('Job accepted.');
  expect(calls).toMatchObject([{ args: ['--test-only'], options: { input: cluster.script('check', 'slurm') } }]);
  expect(readdirSync(world.home)).toEqual(files);
  await world.close();
});

test('a failed job is explained by its log, is queried once, and lists its attempts', async () => {
  const world = new World();
  const ended = 'JobId=4 JobState=FAILED Reason=None Restarts=1 ExitCode=1:0 NodeList=n1';
  const { calls, cluster } = clusterWith(world, (_, args) => (args.includes('show') ? ended : ''), -1);
  const folder = world.run('a');
  writeJobFile(folder, { target: 'slurm', job: '4', submitted: 1 });
  const attempt = { job: '4', node: 'n1' };
  const lines = [
    { type: 'begin', ...attempt, restart: 0, time: 1000 },
    { type: 'end', ...attempt, restart: 0, time: 3000, code: 0 },
    { type: 'begin', ...attempt, restart: 1, time: 5000 },
  ];
  writeFileSync(join(folder, 'attempts.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  writeFileSync(join(folder, 'trainer.log'), 'loading\n\u001b[31mout of memory\u001b[0m\n');
  writeFileSync(join(folder, 'slurm.log'), `${'x'.repeat(20_000)}\nIncrease time.\n\n`);
  const text = 'failed with exit code 1: Increase time.';
  expect(await cluster.jobs.details('a')).toMatchObject({
    job: { phase: 'ended', failed: true, text, attempts: 2 },
    attempts: [
      { job: '4', restart: 0, node: 'n1', began: 1000, ended: 3000, code: 0 },
      { job: '4', restart: 1, node: 'n1', began: 5000, ended: null, code: null },
    ],
    logs: [
      { name: 'slurm.log', lines: ['Increase time.'] },
      { name: 'trainer.log', lines: ['loading', 'out of memory'] },
    ],
  });
  appendFileSync(join(folder, 'attempts.jsonl'), `${JSON.stringify({ ...lines[1], restart: 1, code: 134 })}\n`);
  expect(await cluster.jobs.list(['a'])).toMatchObject([{ text: 'failed with exit code 1: out of memory' }]);
  expect(calls.filter(({ program }) => program === 'scontrol')).toHaveLength(1);
  // A log from before the job does not explain it.
  writeJobFile(folder, { ...readJobFile(folder)!, submitted: Date.now() + 120_000 });
  expect(await cluster.jobs.list(['a'])).toMatchObject([{ text: 'failed with exit code 1' }]);
  await expect(cluster.jobs.details('b')).rejects.toMatchObject({ code: 'run_not_submitted' });
  await world.close();
});

test.each([{ job: '../../4' }, { job: '--user=root' }, { job: '4', task: { study: '../..', index: 0 } }])(
  'launch.json with %j is invalid, because its values become paths and arguments',
  async (change) => {
    const world = new World();
    const folder = world.run('a');
    writeFileSync(join(folder, 'launch.json'), JSON.stringify({ version: 1, target: 'lab', submitted: 1, ...change }));
    expect(readJobFile(folder)).toBeNull();
    await world.close();
  },
);

test('an ended job is not recorded for a run that was submitted again', async () => {
  const world = new World();
  const folder = world.run('a');
  const { cluster } = clusterWith(world, (_, args) => {
    if (args.includes('show')) writeJobFile(folder, { target: 'slurm', job: '5', submitted: 2 });
    return args.includes('show') ? canceled : '';
  });
  writeJobFile(folder, { target: 'slurm', job: '4', submitted: 1 });
  expect(await cluster.jobs.list(['a'])).toMatchObject([{ job: '4', phase: 'ended' }]);
  expect(readJobFile(folder)).toEqual({ version: 1, target: 'slurm', job: '5', submitted: 2 });
  await world.close();
});

test('a controller that does not answer is queried once for all jobs', async () => {
  const world = new World();
  const { calls, cluster } = clusterWith(world, (program) => {
    throw slurmFailure(program, { code: 1, message: '' }, 'Unable to contact slurm controller');
  });
  for (const run of ['a', 'b']) writeJobFile(world.run(run), { target: 'slurm', job: '4', submitted: 1 });
  expect(await cluster.jobs.list(['a', 'b'])).toMatchObject([{ phase: 'unknown' }, { phase: 'unknown' }]);
  expect(calls).toHaveLength(1);
  await world.close();
});
