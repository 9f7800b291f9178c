import { create } from 'zustand';
import {
  type ApiError,
  type PresetCard,
  type RunSummary,
  type Sample,
  type SystemInfo,
  sampleRunId,
  type TensorBoardState,
} from '../../core/contract/contract.ts';
import { asFailure, Failure } from '../../core/contract/failure.ts';
import { type Api, type ConnectionState, isConnectionLost } from '../api/api.ts';
import { createCatchUp } from './catch-up.ts';
import { createGathering } from './gather.ts';

interface AppState {
  connection: ConnectionState;
  /** Newest first; null until first heard of. */
  runs: RunSummary[] | null;
  /** The run that ships with the app, in none of the lists; null where nobody has asked for it. */
  sample: Sample | null;
  presets: PresetCard[] | null;
  system: SystemInfo | null;
  /** What the data folder has of TensorBoard. */
  tensorBoard: TensorBoardState | null;
  /** Errors the person hasn't put away yet, newest last. */
  errors: { key: number; error: ApiError }[];
  /** What was done, newest last. */
  told: Told[];
  /** Whether archived runs are listed too. */
  showArchived: boolean;
  toggleArchived: () => void;
  report: (cause: unknown) => void;
  /** Says that something was done; `undo`: takes it back. */
  tell: (text: string, undo?: () => void) => void;
  dismiss: (key: number) => void;
  dismissAll: () => void;
}

export interface Told {
  key: number;
  text: string;
  undo: (() => void) | null;
}

/** More at once is a pile that nobody reads. */
const mostShown = 3;
/** Errors of a connection that is there again say nothing any more. */
const ofConnection = ['not_connected', 'connection_lost', 'connection_refused'];

/** Milliseconds. */
const buildingInterval = 1000;

let nextKey = 1;

export const useApp = create<AppState>()((set) => ({
  connection: 'connecting',
  runs: null,
  sample: null,
  presets: null,
  system: null,
  tensorBoard: null,
  errors: [],
  told: [],
  showArchived: false,
  toggleArchived: () => set(({ showArchived }) => ({ showArchived: !showArchived })),
  report: (cause) => {
    const error = asFailure(cause).toApiError();
    // The same thing going wrong again is one notice, not a pile.
    set(({ errors }) => ({
      errors: [
        ...errors.filter((shown) => shown.error.code !== error.code || shown.error.message !== error.message),
        { key: nextKey++, error },
      ].slice(-mostShown),
    }));
  },
  tell: (text, undo) =>
    set(({ told }) => ({ told: [...told, { key: nextKey++, text, undo: undo ?? null }].slice(-mostShown) })),
  dismiss: (key) =>
    set(({ errors, told }) => ({
      errors: errors.filter((shown) => shown.key !== key),
      told: told.filter((shown) => shown.key !== key),
    })),
  dismissAll: () => set(({ errors }) => (errors.length > 0 ? { errors: [] } : {})),
}));

/** One of the listed, or the sample. */
export function findRun(
  { runs, sample }: Pick<AppState, 'runs' | 'sample'>,
  runId: string | null | undefined,
) {
  return runId === sampleRunId ? sample?.summary : runs?.find(({ id }) => id === runId);
}

export function useRunSummary(runId: string): RunSummary | undefined {
  return useApp((state) => findRun(state, runId));
}

/** Runs that are to be listed, and how many of the archived are hidden. */
export function useListedRuns(): { runs: RunSummary[] | null; archived: number } {
  const runs = useApp((state) => state.runs);
  const showArchived = useApp((state) => state.showArchived);
  const archived = runs?.filter(({ marks }) => marks.archived).length ?? 0;
  return { runs: showArchived ? runs : (runs?.filter(({ marks }) => !marks.archived) ?? null), archived };
}

/** Puts summaries into the list, newest run first; null takes a run out of it. */
export function withRuns(
  runs: readonly RunSummary[],
  changes: ReadonlyMap<string, RunSummary | null>,
): RunSummary[] {
  const changed = [...changes.values()].filter((summary) => summary !== null);
  return [...runs.filter(({ id }) => !changes.has(id)), ...changed].sort(
    (a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1),
  );
}

/** Keeps the store in step with core; after every reconnection all is asked for again, since notices may have been missed. */
export function followCore(api: Api): () => void {
  const fail = (cause: unknown) => {
    if (!isConnectionLost(cause)) useApp.getState().report(cause);
  };
  const catchUp = createCatchUp();
  /** Null: removed. */
  const changes = createGathering<RunSummary | null>((changed) =>
    useApp.setState(({ runs }) => ({ runs: withRuns(runs ?? [], changed) })),
  );
  // Each by itself: what the machine has takes longer to find out than which runs there are.
  function refresh(): void {
    const askRuns = () => api.call('runs.list', {});
    changes.flush();
    catchUp
      .snapshot(askRuns, (runs) => {
        const all = new Map(runs.map((summary) => [summary.id, summary]));
        useApp.setState({ runs: withRuns([], all) });
      })
      .then(changes.flush)
      .catch(fail);
    api
      .call('presets.list', {})
      .then((presets) => useApp.setState({ presets }))
      .catch(fail);
    api.call('tensorBoard.get', {}).then(showTensorBoard).catch(fail);
    askSystem();
  }
  let asking: ReturnType<typeof setTimeout> | undefined;
  // Asked again while the set-up builds the trainer: what it says changes by itself then alone.
  function askSystem(): void {
    clearTimeout(asking);
    api
      .call('system.info', {})
      .then((system) => {
        useApp.setState({ system });
        if (system.trainer.building) asking = setTimeout(askSystem, buildingInterval);
      })
      .catch(fail);
  }
  /** Nobody may be on the page that says so. */
  function showTensorBoard(tensorBoard: TensorBoardState): void {
    useApp.setState({ tensorBoard });
    const { problem } = tensorBoard;
    if (problem) useApp.getState().report(new Failure(problem.code, problem.message, problem.hint));
  }
  const stops = [
    api.on('tensorBoard', showTensorBoard),
    api.on('run', (summary) => catchUp.notice(() => changes.add(summary.id, summary))),
    api.on('removed', ({ runId }) => catchUp.notice(() => changes.add(runId, null))),
    api.onState((connection) => {
      useApp.setState({ connection });
      if (connection !== 'open') return;
      useApp.setState(({ errors }) => ({
        errors: errors.filter(({ error }) => !ofConnection.includes(error.code)),
      }));
      refresh();
    }),
  ];
  return () => {
    clearTimeout(asking);
    changes.stop();
    for (const stop of stops) stop();
  };
}
