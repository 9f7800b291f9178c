import type { CommandId } from '../../core/contract/commands.ts';
import { type RunSummary, sampleRunId } from '../../core/contract/contract.ts';
import { isLive } from '../../core/contract/run-facts.ts';
import { sentence } from '../../core/contract/sentence.ts';
import type { Api } from '../api/api.ts';
import { navigate } from '../base/router.ts';
import { isStartable } from '../components/run-facts.ts';
import { hasClusters, useApp } from '../stores/app-store.ts';
import { useDialogs } from '../stores/dialogs-store.ts';
import { readOnlyReason } from '../stores/write-access.ts';

export type Actions = Partial<Record<CommandId, () => void>>;

/** Returns the actions available for a run in its current state. `readOnly`: why nothing can be changed. */
export function runActions(api: Api, run: RunSummary, readOnly = readOnlyReason()): Actions {
  const { report, notify } = useApp.getState();
  const { openDialog } = useDialogs.getState();
  const { id: runId, status, marks } = run;
  const live = isLive(status);
  const command = (name: 'pause' | 'resume' | 'checkpoint') =>
    void api.call('runs.command', { runId, command: name }).then(({ accepted, message }) => {
      if (!accepted) notify(`Command rejected: ${message}.`);
      else if (name === 'checkpoint') {
        notify(sentence(message));
        notifyWhenSaved(api, run);
      }
    }, report);
  const annotate = (change: { starred?: boolean; archived?: boolean }) =>
    api.call('runs.annotate', { runId, ...change });
  const views: Actions = {
    'run.page': () => navigate({ page: 'run', runId }),
    ...(run.task !== 'imported' && {
      'run.replay': () => navigate({ page: 'replay', runId, episodeId: null }),
      'run.thoughts': () => navigate({ page: 'thoughts', runId, iteration: null }),
    }),
  };
  if (runId === sampleRunId) return views;
  const reading: Actions = {
    ...views,
    ...(run.task === 'reinforce' &&
      run.startedAt !== null && {
        'run.play': () => navigate({ page: 'play', runId, checkpoint: null }),
      }),
    'run.exports': () => navigate({ page: 'export', runId }),
    'run.export': () => openDialog({ kind: 'export', run }),
  };
  if (readOnly !== null) return reading;
  return {
    ...reading,
    ...(isStartable(run) && {
      'run.start': () => void api.call('runs.start', { runId }).catch(report),
    }),
    ...(isStartable(run) &&
      hasClusters(useApp.getState()) && {
        'run.submit': () => openDialog({ kind: 'submit', jobs: { runs: [run] } }),
      }),
    ...(status === 'paused' && { 'run.start': () => command('resume') }),
    ...(status === 'running' && { 'run.pause': () => command('pause') }),
    ...(live && {
      'run.checkpoint': () => command('checkpoint'),
      'run.stop': () => openDialog({ kind: 'stop', run }),
    }),
    'run.star': () => void annotate({ starred: !marks.starred }).catch(report),
    'run.rename': () => openDialog({ kind: 'rename', run }),
    'run.tag': () => openDialog({ kind: 'tag', runs: [run] }),
    ...(run.task === 'reinforce' &&
      status === 'completed' && { 'run.more': () => openDialog({ kind: 'train-more', run }) }),
    ...(run.task !== 'imported' && {
      'run.duplicate': () => duplicate(api, runId),
      'run.change': () => navigate({ page: 'new', from: { run: runId, checkpoint: null } }),
      ...(run.startedAt !== null && {
        'run.fork': () => openDialog({ kind: 'fork', run, checkpoint: null }),
        'run.evaluate': () => openDialog({ kind: 'evaluate', run, checkpoint: null }),
      }),
    }),
    ...(!live && {
      'run.clean': () => openDialog({ kind: 'clean', runs: [run] }),
      'run.archive': () => archiveRuns(api, [run], !marks.archived),
      'run.delete': () => openDialog({ kind: 'delete', runs: [run] }),
    }),
  };
}

/** Shows a message when the run has saved its next checkpoint. */
function notifyWhenSaved(api: Api, { id, name }: RunSummary): void {
  const stop = api.on(
    'checkpoints',
    ({ written }) => {
      if (written === null) return;
      stop();
      useApp.getState().notify(`${name}: checkpoint ${written} saved.`);
    },
    id,
  );
}

/** Creates a run with the same settings without starting it. */
function duplicate(api: Api, runId: string): void {
  const { report, notify } = useApp.getState();
  api.call('runs.create', { run: runId, start: false }).then((created) => {
    notify('Run duplicated.');
    navigate({ page: 'run', runId: created.runId });
  }, report);
}

/** Archives or unarchives runs, with Undo. Skips running and paused runs. */
export function archiveRuns(api: Api, runs: readonly RunSummary[], archived: boolean): void {
  const { report, notify } = useApp.getState();
  const changed = runs.filter(({ status, marks }) => marks.archived !== archived && !(archived && isLive(status)));
  if (changed.length === 0) {
    notify("Nothing archived: running and paused runs can't be archived.");
    return;
  }
  const all = (on: boolean) =>
    Promise.all(changed.map(({ id }) => api.call('runs.annotate', { runId: id, archived: on })));
  const target = changed.length === 1 ? changed[0]!.name : `${changed.length} runs`;
  all(archived).then(
    () => notify(`${target} ${archived ? 'archived' : 'unarchived'}.`, () => void all(!archived).catch(report)),
    report,
  );
}
