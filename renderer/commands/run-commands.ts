import type { CommandId } from '../../core/contract/commands.ts';
import { type RunSummary, sampleRunId } from '../../core/contract/contract.ts';
import { isLive } from '../../core/contract/run-facts.ts';
import type { Api } from '../api/api.ts';
import { navigate } from '../base/router.ts';
import { isStartable } from '../components/run-facts.ts';
import { useApp } from '../stores/app-store.ts';
import { useDialogs } from '../stores/dialogs-store.ts';

/** Does what is meant now; what can't be done at present isn't there. */
export type Actions = Partial<Record<CommandId, () => void>>;

/** What can be done with a run as it stands. */
export function runActions(api: Api, run: RunSummary): Actions {
  const { report, tell } = useApp.getState();
  const { ask } = useDialogs.getState();
  const { id: runId, status, marks } = run;
  const live = isLive(status);
  const command = (name: 'pause' | 'resume' | 'checkpoint') =>
    void api.call('runs.command', { runId, command: name }).then(({ accepted, message }) => {
      if (!accepted) tell(`Not done: ${message}.`);
      else if (name === 'checkpoint') {
        tell(status === 'paused' ? `${message[0]!.toUpperCase()}${message.slice(1)}.` : checkpointWords(run));
        tellWhenWritten(api, run);
      }
    }, report);
  const annotate = (change: { starred?: boolean; archived?: boolean }) =>
    api.call('runs.annotate', { runId, ...change });
  const views: Actions = {
    'run.page': () => navigate({ page: 'run', runId }),
    'run.replay': () => navigate({ page: 'replay', runId, episodeId: null }),
    'run.thoughts': () => navigate({ page: 'thoughts', runId, iteration: null }),
  };
  if (runId === sampleRunId) return views;
  return {
    ...views,
    ...(isStartable(status) && {
      'run.start': () => void api.call('runs.start', { runId }).catch(report),
    }),
    ...(status === 'paused' && { 'run.start': () => command('resume') }),
    ...(status === 'running' && { 'run.pause': () => command('pause') }),
    ...(live && {
      'run.checkpoint': () => command('checkpoint'),
      'run.stop': () => ask({ kind: 'stop', run }),
    }),
    ...(run.task === 'reinforce' &&
      run.startedAt !== null && {
        'run.play': () => navigate({ page: 'play', runId, checkpoint: null }),
      }),
    'run.exports': () => navigate({ page: 'export', runId }),
    'run.star': () => void annotate({ starred: !marks.starred }).catch(report),
    'run.rename': () => ask({ kind: 'rename', run }),
    'run.tag': () => ask({ kind: 'tag', runs: [run] }),
    ...(run.task === 'reinforce' &&
      status === 'completed' && { 'run.more': () => ask({ kind: 'train-more', run }) }),
    ...(run.task !== 'imported' && {
      'run.duplicate': () => duplicate(api, runId),
      'run.change': () => navigate({ page: 'new', from: { run: runId, checkpoint: null } }),
    }),
    'run.export': () => ask({ kind: 'export', run }),
    ...(!live && {
      'run.clean': () => ask({ kind: 'clean', runs: [run] }),
      'run.archive': () => archiveRuns(api, [run], !marks.archived),
      'run.delete': () => ask({ kind: 'delete', runs: [run] }),
    }),
  };
}

/** When a checkpoint that was asked for is written, where the run isn't paused: of that the trainer says more. */
export function checkpointWords({ iteration, phase }: Pick<RunSummary, 'iteration' | 'phase'>): string {
  return `The checkpoint is written at the end of iteration ${Math.max(phase?.iteration ?? 0, iteration + 1)}.`;
}

/** The next checkpoint is what was asked for. */
function tellWhenWritten(api: Api, { id, name }: RunSummary): void {
  const stop = api.on(
    'checkpoints',
    ({ written }) => {
      if (written === null) return;
      stop();
      useApp.getState().tell(`${name}: the checkpoint of iteration ${written} is written.`);
    },
    id,
  );
}

/** A run with the same settings, which isn't started. */
function duplicate(api: Api, runId: string): void {
  const { report, tell } = useApp.getState();
  api.call('runs.create', { run: runId, start: false }).then((made) => {
    tell('A run with the same settings is here.');
    navigate({ page: 'run', runId: made.runId });
  }, report);
}

/** Goes on from a checkpoint in a run of its own, which isn't started. */
export function forkRun(api: Api, runId: string, checkpoint: number, keepOptimizer: boolean): void {
  const { report, tell } = useApp.getState();
  api.call('runs.create', { run: runId, checkpoint, keepOptimizer, start: false }).then((made) => {
    tell(`A run that goes on from iteration ${checkpoint} is here.`);
    navigate({ page: 'run', runId: made.runId });
  }, report);
}

/** Into the archive or out of it; the other way round by Undo. Runs that are trained stay. */
export function archiveRuns(api: Api, runs: readonly RunSummary[], archived: boolean): void {
  const { report, tell } = useApp.getState();
  const changed = runs.filter(
    ({ status, marks }) => marks.archived !== archived && !(archived && isLive(status)),
  );
  if (changed.length === 0) {
    tell('Nothing to archive: runs that are being trained stay.');
    return;
  }
  const all = (on: boolean) =>
    Promise.all(changed.map(({ id }) => api.call('runs.annotate', { runId: id, archived: on })));
  const what = changed.length === 1 ? changed[0]!.name : `${changed.length} runs`;
  all(archived).then(
    () =>
      tell(
        `${what} ${archived ? 'archived' : 'taken out of the archive'}.`,
        () => void all(!archived).catch(report),
      ),
    report,
  );
}
