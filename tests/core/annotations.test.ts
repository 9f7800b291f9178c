import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { newAlarm } from '../../core/alert-actions/alert-actions.ts';
import { channelPair } from '../../core/contract/channel.ts';
import { createClient } from '../../core/contract/client.ts';
import { NotificationFilter } from '../../core/contract/notification.ts';
import type { Core } from '../../core/index.ts';
import { appendAnnotation } from '../../core/run-directory/annotations.ts';
import { appendCommand } from '../../core/run-directory/control.ts';
import { adoptRun } from '../../core/runs/adopt.ts';
import { partialFolder, removePartialFolders } from '../../core/runs/partial-folders.ts';
import { createHandlers } from '../../core/server/handlers.ts';
import { serveChannel } from '../../core/server/serve-channel.ts';
import { starpo } from './fixtures/child.ts';
import { starpoHere } from './fixtures/command.ts';
import * as journal from './fixtures/journal.ts';
import { raiseAlert } from './fixtures/raise-alert.ts';
import { collectNotices, nextNotice, untilRun, World } from './fixtures/world.ts';

// Many tests start the command line, which is slow on a busy machine.
describe('annotations', { timeout: 300_000 }, () => {
  let world: World;
  let core: Core;
  beforeEach(async () => {
    world = new World();
    world.run('one', [journal.started(0), journal.iteration(1, 1), journal.stopped(2, 1, 'command')]);
    world.run('two', [journal.started(0), journal.evaluation(1, 0, 0.4), journal.rollout(2, 1)]);
    core = await world.core();
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
    await world.close();
  });
  const file = (runId = 'one') => join(world.home, 'runs', runId, 'annotations.jsonl');
  const lines = () => readFileSync(file(), 'utf8').trimEnd().split('\n');

  test('are stored in the run directory, one line per change', async () => {
    const first = await core.annotations.annotate({
      runId: 'one',
      addTags: ['b', 'a 1'],
      note: 'two\nlines',
    });
    expect(first).toEqual({
      tags: ['a 1', 'b'],
      note: 'two\nlines',
      starred: false,
      archived: false,
      name: '',
    });
    await core.annotations.annotate({
      runId: 'one',
      addTags: ['b'],
      removeTags: ['none'],
      note: 'two\nlines',
    });
    expect(lines()).toHaveLength(3);
    const then = await core.annotations.annotate({
      runId: 'one',
      removeTags: ['b'],
      note: '',
      starred: true,
      archived: true,
    });
    expect(then).toEqual({ tags: ['a 1'], note: '', starred: true, archived: true, name: '' });
    expect(core.runs.get('one').marks).toEqual(then);
    await expect(core.annotations.annotate({ runId: 'none' })).rejects.toMatchObject({ code: 'run_unknown' });
  });

  test('the second of two concurrent edits of a note is rejected', async () => {
    await core.annotations.annotate({ runId: 'one', note: 'first' });
    const write = (note: string) => core.annotations.annotate({ runId: 'one', note, noteWas: 'first' });
    const both = await Promise.allSettled([write('mine'), write('yours')]);
    expect(both).toMatchObject([
      { status: 'fulfilled', value: { note: 'mine' } },
      { status: 'rejected', reason: { code: 'note_changed' } },
    ]);
    // An edit without changes succeeds, for any previous note.
    await expect(write('mine')).resolves.toMatchObject({ note: 'mine' });
    await expect(core.annotations.annotate({ runId: 'one', note: 'last' })).resolves.toMatchObject({
      note: 'last',
    });
  });

  test('an alert can be raised, snoozed and cleared, and each change is published', async () => {
    const published = collectNotices(core, 'alerts');
    const alert = { kind: 'entropy', severity: 'warning', iteration: 3, message: 'falls' } as const;
    const alertId = await raiseAlert(core, 'one', alert);
    expect(core.annotations.alerts('one')).toMatchObject([{ id: alertId, ...alert, state: 'raised' }]);
    await core.annotations.answer({ runId: 'one', alertId, state: 'snoozed', until: 5 });
    expect(core.annotations.alerts('one')).toMatchObject([{ state: 'snoozed', snoozedUntil: 5 }]);
    const cleared = await core.annotations.answer({ runId: 'one', alertId, state: 'cleared' });
    expect(cleared).toMatchObject([{ state: 'cleared', snoozedUntil: null }]);
    expect(published.at(-1)).toEqual({ runId: 'one', alerts: cleared });
    const unknown = { runId: 'one', alertId: 'x', state: 'cleared' } as const;
    await expect(core.annotations.answer(unknown)).rejects.toMatchObject({ code: 'alert_unknown' });
    const endless = { runId: 'one', alertId, state: 'snoozed' } as const;
    await expect(core.annotations.answer(endless)).rejects.toMatchObject({ code: 'input_invalid' });
  });

  test('alerts raised in the same millisecond are ordered by iteration', async () => {
    vi.spyOn(Date, 'now').mockReturnValue(Date.now());
    const iterations = Array.from({ length: 12 }, (_, i) => 10 * (i + 1));
    for (const iteration of iterations.toReversed())
      await raiseAlert(core, 'one', {
        ...{ kind: 'trap_warning', severity: 'warning', message: 'falls' },
        ...{ iteration, level: 'warning' },
      });
    const alerts = core.annotations.alerts('one');
    vi.restoreAllMocks();
    expect(new Set(alerts.map(({ raisedAt }) => raisedAt)).size).toBe(1);
    expect(alerts.map(({ iteration }) => iteration)).toEqual(iterations);
    // Automatic actions respond to the newest alert.
    expect(newAlarm(alerts, [])).toMatchObject({ iteration: 120 });
  });

  test('a repeated alert is published once, and rewinding the run to before the alert removes it', async () => {
    const alert = { kind: 'entropy', severity: 'warning', iteration: 1, message: 'falls' } as const;
    const first = await raiseAlert(core, 'one', alert);
    expect(await raiseAlert(core, 'one', { ...alert, message: 'still falls' })).toBe(first);
    expect(await raiseAlert(core, 'one', { ...alert, iteration: 0 })).not.toBe(first);
    expect(await raiseAlert(core, 'two', alert)).not.toBe(first);
    expect(core.annotations.alerts('one').map(({ iteration }) => iteration)).toEqual([1, 0]);

    const published = collectNotices(core, 'alerts');
    const resumed = JSON.parse(journal.started(3, { checkpoint: 'checkpoints/000000', iteration: 0 }));
    const later = JSON.stringify({ ...resumed, time: Date.now() + 1000 });
    appendFileSync(join(world.home, 'runs/one/events.jsonl'), `${later}\n`);
    await core.supervisor.refresh('one');
    expect(core.annotations.alerts('one')).toMatchObject([{ iteration: 0 }]);
    expect(published).toMatchObject([{ runId: 'one', alerts: [{ iteration: 0 }] }]);
    await core.supervisor.rebuild();
    expect(core.annotations.alerts('one')).toMatchObject([{ iteration: 0 }]);
  });

  test('void episodes raise one alert per period of failures, with advice, and again after the run was resumed', async () => {
    const published = collectNotices(core, 'alerts');
    const failure = (seq: number, iteration: number, environment = 'own') =>
      JSON.stringify({
        ...{ v: 1, seq, time: Date.now() + seq, type: 'environment_alert', iteration, environment },
        ...{ void: 9, episodes: 10, message: '9 of 10 episodes of own failed' },
      });
    let seq = 3;
    const append = async (lines: ((seq: number) => string)[]) => {
      const text = lines.map((line) => `${line(seq++)}\n`).join('');
      appendFileSync(join(world.home, 'runs/two/events.jsonl'), text);
      await core.supervisor.refresh('two');
      return core.annotations.alerts('two').map(({ iteration }) => iteration);
    };
    const at = (iteration: number, environment?: string) => (own: number) => failure(own, iteration, environment);
    expect(await append([at(5)])).toEqual([5]);
    expect(core.annotations.alerts('two')).toMatchObject([
      { kind: 'environment_alert', severity: 'warning', level: null, message: '9 of 10 episodes of own failed.' },
    ]);
    expect(published).toHaveLength(1);
    expect(
      new NotificationFilter().ofAlerts({ ...core.runs.get('two'), status: 'running' }, published[0]!.alerts),
    ).toMatchObject({
      title: 'Environment failures',
    });
    // Not an alarm of the Echo Trap monitor, to which automatic actions respond.
    expect(newAlarm(published[0]!.alerts, [])).toBeUndefined();
    expect(await append([at(6), at(6), at(25), at(6, 'other')])).toEqual([5, 6]);
    expect(await append([at(46)])).toEqual([5, 6, 46]);
    const later = 1 + Math.max(...core.annotations.alerts('two').map(({ raisedAt }) => raisedAt));
    const resumed = (own: number) => {
      const event = JSON.parse(journal.started(own, { checkpoint: 'checkpoints/000005', iteration: 5 }));
      return JSON.stringify({ ...event, time: later });
    };
    expect(await append([resumed])).toEqual([5]);
    expect(await append([at(30)])).toEqual([5, 30]);
    await core.supervisor.rebuild();
    expect(core.annotations.alerts('two').map(({ iteration }) => iteration)).toEqual([5, 30]);
  });

  test('a snoozed alert is published again when the snooze ends', async () => {
    const alertId = await raiseAlert(core, 'one', {
      kind: 'k',
      severity: 'notice',
      iteration: 1,
      message: 'm',
    });
    const until = Date.now() + 200;
    await core.annotations.answer({ runId: 'one', alertId, state: 'snoozed', until });
    await nextNotice(core, 'alerts');
    expect(Date.now()).toBeGreaterThanOrEqual(until - 1);
  });

  test.each(['annotations.jsonl', 'control.jsonl', 'trainer.log'])(
    'no file is written through a symbolic link at %s',
    async (name) => {
      const own = join(world.folder, 'own-file');
      writeFileSync(own, 'mine');
      symlinkSync(own, join(world.home, 'runs/one', name));
      const writing: Record<string, () => unknown> = {
        'annotations.jsonl': () => core.annotations.annotate({ runId: 'one', starred: true }),
        'control.jsonl': async () => appendCommand(join(world.home, 'runs/one'), 'stop'),
        'trainer.log': () => core.trainer.launch('reinforce', join(world.home, 'runs/one')),
      };
      await expect(writing[name]!()).rejects.toMatchObject({
        code: 'run_folder_invalid',
        message: expect.stringContaining(name),
      });
      expect(readFileSync(own, 'utf8')).toBe('mine');
    },
  );

  test('annotations added to the file externally are published', async () => {
    appendAnnotation(join(world.home, 'runs/one'), { type: 'star', on: true });
    await untilRun(core, 'one', (run) => run.marks.starred);
  });

  test('are restored with the rest of the run history after its database was deleted', async () => {
    const alertId = await raiseAlert(core, 'two', {
      kind: 'k',
      severity: 'critical',
      iteration: 1,
      message: 'm',
    });
    await core.annotations.answer({ runId: 'two', alertId, state: 'snoozed', until: 99 });
    await core.annotations.annotate({
      runId: 'one',
      addTags: ['x', 'y'],
      removeTags: [],
      note: 'n',
      starred: true,
    });
    await core.annotations.annotate({ runId: 'one', removeTags: ['x'], archived: true });
    await core.annotations.add('one', { type: 'start_failed', code: 'c', message: 'm', hint: 'h' });
    const checkpoint = join(core.runs.folder('one'), 'checkpoints/000001');
    mkdirSync(checkpoint, { recursive: true });
    for (const file of ['model.safetensors', 'trainer-state.safetensors']) writeFileSync(join(checkpoint, file), '');
    core.queue.add('one');
    const before = await answers(core);
    expect(JSON.stringify(before)).toContain('snoozed');
    await core.dispose();
    world.deleteHistory();
    const { output, status } = await starpoHere(['history', 'rebuild', '--json'], world.environment());
    expect({ status, report: JSON.parse(output) }).toMatchObject({ status: 0, report: { runs: 2 } });
    expect(await answers(await world.core())).toEqual(before);
  });

  test('damaged lines are skipped and reported', async () => {
    await core.annotations.annotate({ runId: 'one', starred: true });
    appendFileSync(file(), 'garbage\n{"v":1,"id":"a","time":1,"type":"tag","tag":"","present":true}\n');
    appendFileSync(file(), '{"v":1,"id":"b","time":1,"type":"weather","sunny":true}\n{"v":1,"id":"c","ti');
    await core.annotations.annotate({ runId: 'one', note: 'after a line that was cut short' });
    expect(core.runs.get('one').marks).toMatchObject({
      starred: true,
      note: 'after a line that was cut short',
    });
    const log = await createHandlers(core)['runs.log']({ runId: 'one' });
    expect(log[0]).toMatchObject({ level: 'warning', message: expect.stringContaining('3 invalid lines') });
    await core.dispose();
    const { output } = await starpoHere(['history', 'rebuild'], world.environment());
    expect(output).toContain('one: skipped invalid lines in annotations.jsonl');
  });

  test('texts above the input limit are read and can be changed', async () => {
    const note = 'long '.repeat(3000);
    const name = `Line one\n${'and more '.repeat(20)}`;
    const tag = 't'.repeat(70);
    const texts = [
      { type: 'note', text: note },
      { type: 'name', name },
      { type: 'tag', tag, present: true },
    ];
    for (const [index, text] of texts.entries())
      appendFileSync(file(), `${JSON.stringify({ v: 1, id: String(index), time: 1, ...text })}\n`);
    await core.supervisor.ingestAnnotations('one');
    const { left, right } = channelPair();
    serveChannel(core, right);
    const client = createClient(left);
    expect((await client.call('runs.get', { runId: 'one' })).summary.marks).toMatchObject({
      ...{ note, name: name.replace('\n', ' '), tags: [tag] },
    });
    expect((await client.call('runs.log', { runId: 'one' })).filter(({ seq }) => seq < 0)).toEqual([]);
    const change = { runId: 'one', note: 'short', noteWas: note, removeTags: [tag] };
    expect(await client.call('runs.annotate', change)).toMatchObject({ note: 'short', tags: [] });
  });

  test('texts above the file limit are reported as damage in every field', async () => {
    const most = 'x'.repeat(65_536);
    const more = `${most}x`;
    const line = (type: string, rest: object) =>
      `${JSON.stringify({ v: 1, id: 'a', time: Date.now(), type, ...rest })}\n`;
    const alert = { alert: 'a', state: 'raised', kind: 'fever', severity: 'warning', iteration: 1 };
    const action = {
      ...{ action: 'r', alert: null, by: 'user', kind: 'rollback', state: 'done', checkpoint: 1 },
      ...{ fork: 'two', changes: [], message: '' },
    };
    const problem = { code: 'disk_full', message: '', hint: '' };
    const tooLong = [
      line('note', { text: more }),
      line('name', { name: more }),
      line('tag', { tag: more, present: true }),
      line('alert', { ...alert, message: more }),
      line('alert', { ...alert, severity: more, message: '' }),
      line('start_failed', { ...problem, hint: more }),
      line('human_success', { environment: more, levels: 10, successes: 5 }),
      line('action', { ...action, message: more }),
      line('action', { ...action, fork: more }),
      line('action', { ...action, changes: [{ path: 'optimizer.name', value: more }] }),
    ];
    const longest = [
      line('note', { text: most }),
      line('tag', { tag: most, present: true }),
      // Only the oversized evidence of an alert is dropped.
      line('alert', { ...alert, message: '', series: 'rollout/entropy', level: more, advice: [more] }),
      // Unknown fields are not checked.
      line('weather', { text: more }),
    ];
    appendFileSync(file(), [...longest, ...tooLong].join(''));
    await core.supervisor.ingestAnnotations('one');
    expect(core.runs.get('one').marks).toMatchObject({ note: most, name: '', tags: [most] });
    expect(core.annotations.alerts('one')).toMatchObject([
      { message: '', series: 'rollout/entropy', level: null, advice: [] },
    ]);
    const handlers = createHandlers(core);
    expect((await handlers['runs.log']({ runId: 'one' }))[0]!.message).toContain(`${tooLong.length} invalid lines`);
    const { left, right } = channelPair();
    serveChannel(core, right);
    const client = createClient(left);
    const change = { runId: 'one', note: 'short', noteWas: most, removeTags: [most] };
    expect(await client.call('runs.annotate', change)).toMatchObject({ note: 'short', tags: [] });
    for (const refused of [{ removeTags: [more] }, { note: 'n', noteWas: more }, { note: 'n'.repeat(10_001) }])
      await expect(client.call('runs.annotate', { runId: 'one', ...refused })).rejects.toMatchObject({
        code: 'input_invalid',
      });
  });

  test('alerts with unknown values are passed through unchanged', async () => {
    const line = (alert: string, more: object) =>
      JSON.stringify({
        ...{ v: 1, id: alert, time: Date.now(), type: 'alert', alert, state: 'raised', iteration: 1 },
        ...{ kind: 'fever', message: 'It is hot.', severity: 'grave', ...more },
      });
    const hot = line('hot', { level: 'feverish', regime: 'delirium', advice: 'rest' });
    appendFileSync(file(), `${line('plain', {})}\n${hot}\n`);
    await core.supervisor.ingestAnnotations('one');
    expect(core.annotations.alerts('one')).toMatchObject([
      { id: 'hot', severity: 'grave', level: 'feverish', regime: 'delirium', advice: [] },
      { id: 'plain', severity: 'grave', level: null },
    ]);
    await core.dispose();
    const { output, status } = await starpoHere(['alerts', 'one'], world.environment());
    expect(status).toBe(0);
    expect(output).toContain('grave, raised');
    expect(output).toContain('feverish, raised');
  });

  test('an unreadable annotations file is reported, and its run is still shown', async () => {
    mkdirSync(file());
    world.run('three', [journal.started(0)]);
    mkdirSync(join(world.home, 'runs/three/annotations.jsonl'));
    await untilRun(core, 'three', () => true);
    const problem = { level: 'warning', message: expect.stringContaining("can't be read") };
    expect((await createHandlers(core)['runs.log']({ runId: 'three' }))[0]).toMatchObject(problem);
    await core.dispose();
    rmSync(join(world.home, 'runs/two/events.jsonl'));
    mkdirSync(join(world.home, 'runs/two/events.jsonl'));
    const reopened = await world.core();
    const { 'runs.log': log } = createHandlers(reopened);
    expect((await log({ runId: 'one' }))[0]).toMatchObject(problem);
    expect(reopened.runs.get('two').latest).toMatchObject({ 'evaluation/frozen-lake/success_rate': 0.4 });
    expect(world.logged).toEqual([expect.stringMatching(/Following two: EISDIR/)]);
  });

  test('are changed from the command line, and archived runs are not listed', async () => {
    await core.dispose();
    const run = async (...args: string[]) => {
      const { status, output, errors } = await starpoHere(args, world.environment());
      expect({ status, errors }).toEqual({ status: 0, errors: '' });
      return output;
    };
    expect(await run('tag', 'one', 'long run', 'b')).toBe('b, long run');
    await run('note', 'one', 'what it is for');
    await run('archive', 'one');
    const listed = await run('runs');
    expect(listed).toMatch(/two[\s\S]*1 archived/);
    expect(listed).not.toContain('long run');
    expect(await run('runs', '--all')).toMatch(/one .*b long run/);
    expect(await run('show', 'one')).toMatch(/tags +archived, b, long run\nnote +what it is for/);
    const { status, errors } = await starpoHere(['tag', 'one', '#'], world.environment());
    expect({ status, errors }).toMatchObject({
      status: 2,
      errors: expect.stringContaining('usage_invalid'),
    });
  });

  test('an adopted run folder is complete and can be resumed', async () => {
    vi.stubEnv('FAKE_TRAINER_HOLD', '2');
    const other = new World();
    const theirs = await other.core();
    const set = { iterations: 3, 'rollout.groups': 1, 'rollout.group_size': 4, 'policy_loss.mini_batch': 4 };
    const runId = await theirs.runs.create({ preset: 'starter-frozen-lake', set });
    await theirs.annotations.annotate({ runId, addTags: ['far'] });
    await theirs.runs.start(runId);
    await untilRun(theirs, runId, ({ iteration }) => iteration === 2);
    // The run was copied during training, so the copy is interrupted, regardless of its lock and process id.
    const folder = join(world.home, 'runs', '.copying');
    cpSync(theirs.runs.folder(runId), folder, {
      recursive: true,
      filter: (path) => !path.endsWith('trainer.lock'),
    });
    await theirs.runs.command(runId, 'stop');
    await other.close();
    renameSync(folder, join(world.home, 'runs', runId));
    const found = await untilRun(core, runId, ({ status }) => status === 'interrupted');
    expect(found.marks.tags).toEqual(['far']);
    vi.unstubAllEnvs();
    // The initial model is missing here, but the run has a checkpoint and doesn't need it.
    await core.runs.start(runId);
    await untilRun(core, runId, ({ status }) => status === 'completed');
    expect((await createHandlers(core)['rollouts.list']({ runId })).length).toBeGreaterThan(2);
  });

  test('a folder that replaces another of the same name is indexed again', async () => {
    const longer = [5, 6, 7, 8, 9].map((seq) => journal.log(seq, 'other'));
    const other = world.run('other', [journal.started(4), journal.iteration(5, 7), ...longer.slice(1)]);
    const place = join(world.home, 'runs/one');
    const put = () => {
      rmSync(place, { recursive: true });
      cpSync(other, place, { recursive: true });
    };
    put();
    await untilRun(core, 'one', ({ iteration }) => iteration === 7);
    await core.dispose();
    world.run('other', [journal.started(8), ...[1, 2, 3, 4, 5, 6, 7].map((at) => journal.iteration(8 + at, at))]);
    put();
    const later = await world.core();
    expect(later.runs.get('one').iteration).toBe(7);
    expect(await createHandlers(later)['runs.log']({ runId: 'one' })).toHaveLength(1);
  });

  test('a folder is adopted under a free name; without checkpoints its run is not resumed', async () => {
    const elsewhere = join(world.folder, 'One (copy)');
    cpSync(join(world.home, 'runs/one'), elsewhere, { recursive: true });
    expect(await adoptRun(world.home, elsewhere)).toBe('one-copy');
    expect(await adoptRun(world.home, join(world.home, 'runs/one'))).toMatch(/^one-[0-9a-f]{4}$/);
    const { 'runs.adopt': adopt } = createHandlers(core);
    expect(await adopt({ runId: 'one-copy' })).toMatchObject({ status: 'stopped', iteration: 1 });
    await expect(core.runs.start('one-copy')).rejects.toMatchObject({ code: 'run_not_resumable' });
    await core.dispose();
    const { output } = await starpoHere(['adopt', elsewhere], world.environment());
    expect(output).toMatch(/^one-copy-[0-9a-f]{4}$/);
    writeFileSync(join(elsewhere, 'run.json'), '{');
    const { status, errors } = await starpoHere(['adopt', elsewhere], world.environment());
    expect({ status, errors }).toMatchObject({
      status: 2,
      errors: expect.stringContaining('run_folder_invalid'),
    });
  });

  test.each(['adopting', 'importing'] as const)(
    'the remains of an interrupted process (%s) are deleted, those of a running process are kept',
    async (doing) => {
      const runs = join(world.home, 'runs');
      const dead = spawnSync(process.execPath, ['--version']).pid;
      const [left, fresh, alive] = [
        [dead, 3600],
        [dead, 0],
        [process.pid, 3600],
      ].map(([pid, age]) => {
        const path = partialFolder(world.home, 'one', doing).replace(`-${process.pid}-`, `-${pid}-`);
        mkdirSync(path);
        utimesSync(path, Date.now() / 1000 - age!, Date.now() / 1000 - age!);
        return basename(path);
      });
      await removePartialFolders(world.home);
      expect(readdirSync(runs)).not.toContain(left);
      expect(readdirSync(runs)).toEqual(expect.arrayContaining([fresh, alive]));
    },
  );

  test('adopting reports progress, and canceling adoption leaves no files', async () => {
    const elsewhere = join(world.folder, 'large');
    cpSync(join(world.home, 'runs/one'), elsewhere, { recursive: true, preserveTimestamps: true });
    mkdirSync(join(elsewhere, 'rollouts'));
    for (let index = 0; index < 1000; index++)
      writeFileSync(join(elsewhere, 'rollouts', `${index}.index.json`), 'some bytes');
    writeFileSync(join(elsewhere, 'weights'), randomBytes(9 << 20));
    utimesSync(join(elsewhere, 'run.json'), 1e9, 1e9);
    chmodSync(join(elsewhere, 'run.json'), 0o600);
    const reported: number[][] = [];
    const runId = await adoptRun(world.home, elsewhere, {
      progress: (...progress) => reported.push(progress),
    });
    const [done, total] = reported.at(-1)!;
    expect(done).toBeGreaterThan(10_000);
    expect(total).toBe(done);
    expect(readdirSync(join(world.home, 'runs', runId, 'rollouts'))).toHaveLength(1000);
    const weights = readFileSync(join(world.home, 'runs', runId, 'weights'));
    expect(weights.equals(readFileSync(join(elsewhere, 'weights')))).toBe(true);
    const { mode, mtimeMs } = statSync(join(world.home, 'runs', runId, 'run.json'));
    expect([mode & 0o777, mtimeMs]).toEqual([0o600, 1e12]);

    const runs = join(world.home, 'runs');
    const before = readdirSync(runs);
    const abort = new AbortController();
    const reason = new Error('given up');
    const giving = { signal: abort.signal, progress: () => abort.abort(reason) };
    await expect(adoptRun(world.home, elsewhere, giving)).rejects.toBe(reason);
    expect(readdirSync(runs)).toEqual(before);
  });

  test('Ctrl+C cancels adopting in the middle of a file and leaves no files', async () => {
    await core.dispose();
    // The memory file system can't share blocks between files, so copying a sparse terabyte never ends.
    const memory = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : world.folder, 'starpo-adopt-'));
    try {
      const elsewhere = join(memory, 'endless');
      cpSync(join(world.home, 'runs/one'), elsewhere, { recursive: true });
      writeFileSync(join(elsewhere, 'weights'), '');
      truncateSync(join(elsewhere, 'weights'), 2 ** 40);
      const runs = join(world.home, 'runs');
      const before = readdirSync(runs);
      const started = new Promise<void>((resolve) => {
        const watcher = watch(runs, (_, name) => {
          if (!name?.includes('-adopting-')) return;
          watcher.close();
          resolve();
        });
      });
      const adopting = starpo(['adopt', elsewhere], world.environment());
      await started;
      expect(await adopting.kill('SIGINT')).toMatchObject({
        status: 130,
        output: '',
        errors: expect.stringContaining('task_canceled'),
      });
      expect(readdirSync(runs)).toEqual(before);
    } finally {
      rmSync(memory, { recursive: true, force: true });
    }
  });

  test('a folder with a symbolic link is not adopted and leaves no files', async () => {
    const elsewhere = join(world.folder, 'linked');
    cpSync(join(world.home, 'runs/one'), elsewhere, { recursive: true });
    const own = join(world.folder, 'own-file');
    writeFileSync(own, 'mine');
    symlinkSync(own, join(elsewhere, 'trainer.log'));
    await expect(adoptRun(world.home, elsewhere)).rejects.toMatchObject({
      code: 'run_folder_invalid',
      message: expect.stringContaining('trainer.log'),
    });
    expect(readdirSync(join(world.home, 'runs')).sort()).toEqual(['one', 'two']);
    await expect(adoptRun(world.home, world.folder)).rejects.toMatchObject({ code: 'run_folder_invalid' });
  });
});

/** The messages that clients receive about every run. */
async function answers(core: Core) {
  const handlers = createHandlers(core);
  const runs = await handlers['runs.list']({});
  const each = runs.map(async ({ id: runId }) => ({
    series: await handlers['runs.series']({ runId }),
    log: await handlers['runs.log']({ runId }),
    rollouts: await handlers['rollouts.list']({ runId }),
    alerts: await handlers['alerts.list']({ runId }),
  }));
  return { runs, queue: await handlers['queue.list']({}), each: await Promise.all(each) };
}
