import { create } from 'zustand';
import {
  type ApiError,
  type Output,
  type PresetCard,
  type RunSummary,
  type Sample,
  type SystemInfo,
  sampleRunId,
  type TensorBoardState,
} from '../../core/contract/contract.ts';
import { asFailure, Failure } from '../../core/contract/failure.ts';
import { type Api, type ConnectionState, isConnectionLost } from '../api/api.ts';
import type { Route } from '../base/routes.ts';
import { createCatchUp } from './catch-up.ts';
import { createChangeBatcher } from './change-batcher.ts';

interface AppState {
  connection: ConnectionState;
  /** Newest first; null while loading. */
  runs: RunSummary[] | null;
  /** The included sample run, which is not in `runs`; null until requested. */
  sample: Sample | null;
  presets: PresetCard[] | null;
  /** Clusters of targets.json; null while loading. */
  clusters: Output<'cluster.targets'> | null;
  system: SystemInfo | null;
  /** TensorBoard logging of the data folder. */
  tensorBoard: TensorBoardState | null;
  /** Errors not yet dismissed, newest last. */
  errors: { key: number; error: ApiError }[];
  /** Confirmations, newest last. */
  messages: Message[];
  /** Whether archived runs are listed too. */
  showArchived: boolean;
  toggleArchived: () => void;
  report: (cause: unknown) => void;
  /** Shows a confirmation. `action`: a function adds an Undo button, a link adds the link. */
  notify: (text: string, action?: MessageAction) => void;
  dismiss: (key: number) => void;
  dismissAll: () => void;
}

export interface Message {
  key: number;
  text: string;
  action: MessageAction | null;
}

/** Undoes the confirmed change, or links to its result. */
export type MessageAction = (() => void) | { label: string; route: Route };

/** Maximum number of messages per kind. */
const maxMessages = 3;
/** Codes of errors to dismiss after a reconnection. */
const connectionErrors = ['not_connected', 'connection_lost', 'connection_refused'];

/** Polling interval while the trainer is being built, in ms. */
const buildPollInterval = 1000;

let nextKey = 1;

export const useApp = create<AppState>()((set) => ({
  connection: 'connecting',
  runs: null,
  sample: null,
  presets: null,
  clusters: null,
  system: null,
  tensorBoard: null,
  errors: [],
  messages: [],
  showArchived: false,
  toggleArchived: () => set(({ showArchived }) => ({ showArchived: !showArchived })),
  report: (cause) => {
    const error = asFailure(cause).toApiError();
    // Show repeated errors once.
    set(({ errors }) => ({
      errors: [
        ...errors.filter((shown) => shown.error.code !== error.code || shown.error.message !== error.message),
        { key: nextKey++, error },
      ].slice(-maxMessages),
    }));
  },
  notify: (text, action) =>
    set(({ messages }) => ({
      messages: [...messages, { key: nextKey++, text, action: action ?? null }].slice(-maxMessages),
    })),
  dismiss: (key) =>
    set(({ errors, messages }) => ({
      errors: errors.filter((shown) => shown.key !== key),
      messages: messages.filter((shown) => shown.key !== key),
    })),
  dismissAll: () => set(({ errors }) => (errors.length > 0 ? { errors: [] } : {})),
}));

/** Selects whether runs can be submitted to a cluster. */
export const hasClusters = ({ clusters }: Pick<AppState, 'clusters'>): boolean => (clusters?.targets.length ?? 0) > 0;

/** Finds a listed run or the sample. */
export function findRun({ runs, sample }: Pick<AppState, 'runs' | 'sample'>, runId: string | null | undefined) {
  return runId === sampleRunId ? sample?.summary : runs?.find(({ id }) => id === runId);
}

export function useRunSummary(runId: string): RunSummary | undefined {
  return useApp((state) => findRun(state, runId));
}

/** Returns the listed runs and the number of archived runs. */
export function useListedRuns(): { runs: RunSummary[] | null; archived: number } {
  const runs = useApp((state) => state.runs);
  const showArchived = useApp((state) => state.showArchived);
  const archived = runs?.filter(({ marks }) => marks.archived).length ?? 0;
  return { runs: showArchived ? runs : (runs?.filter(({ marks }) => !marks.archived) ?? null), archived };
}

/** Updates the list with new summaries, newest run first; null removes a run. */
export function withRuns(runs: readonly RunSummary[], changes: ReadonlyMap<string, RunSummary | null>): RunSummary[] {
  const changed = [...changes.values()].filter((summary) => summary !== null);
  return [...runs.filter(({ id }) => !changes.has(id)), ...changed].sort(
    (a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1),
  );
}

/** Loads the clusters. */
async function readClusters(api: Api): Promise<void> {
  try {
    useApp.setState({ clusters: await api.call('cluster.targets', {}) });
  } catch (cause) {
    if (!isConnectionLost(cause)) useApp.getState().report(cause);
  }
}

/** Reads targets.json again when the user returns to the window, because it may have been edited. */
export function followTargetsFile(api: Api): () => void {
  const read = () => void readClusters(api);
  addEventListener('focus', read);
  return () => removeEventListener('focus', read);
}

/** Synchronizes the store with the server. Reloads everything after a reconnection, because notices may have been missed. */
export function followServer(api: Api): () => void {
  const fail = (cause: unknown) => {
    if (!isConnectionLost(cause)) useApp.getState().report(cause);
  };
  const catchUp = createCatchUp();
  /** A null change removes the run. */
  const changes = createChangeBatcher<RunSummary | null>((changed) =>
    useApp.setState(({ runs }) => ({ runs: withRuns(runs ?? [], changed) })),
  );
  // Separate requests: system information takes longer than the list of runs.
  function refresh(): void {
    const listRuns = () => api.call('runs.list', {});
    changes.flush();
    catchUp
      .snapshot(listRuns, (runs) => {
        const all = new Map(runs.map((summary) => [summary.id, summary]));
        useApp.setState({ runs: withRuns([], all) });
      })
      .then(changes.flush)
      .catch(fail);
    loadPresets();
    api.call('tensorBoard.get', {}).then(showTensorBoard).catch(fail);
    loadClusters();
    loadSystem();
  }
  function loadPresets(): void {
    api
      .call('presets.list', {})
      .then((presets) => useApp.setState({ presets }))
      .catch(fail);
  }
  const loadClusters = () => void readClusters(api);
  let pollTimer: ReturnType<typeof setTimeout> | undefined;
  function loadSystem(): void {
    clearTimeout(pollTimer);
    api
      .call('system.info', {})
      .then((system) => {
        useApp.setState({ system });
        if (system.trainer.building) pollTimer = setTimeout(loadSystem, buildPollInterval);
      })
      .catch(fail);
  }
  /** Shows a problem on every page. */
  function showTensorBoard(tensorBoard: TensorBoardState): void {
    useApp.setState({ tensorBoard });
    const { problem } = tensorBoard;
    if (problem) useApp.getState().report(new Failure(problem.code, problem.message, problem.hint));
  }
  const stops = [
    api.on('tensorBoard', showTensorBoard),
    api.on('targets', loadClusters),
    // An environment may have become a preset.
    api.on('environments', loadPresets),
    api.on('run', (summary) => catchUp.notice(() => changes.add(summary.id, summary))),
    api.on('removed', ({ runId }) => catchUp.notice(() => changes.add(runId, null))),
    api.onState((connection) => {
      useApp.setState({ connection });
      if (connection !== 'open') return;
      useApp.setState(({ errors }) => ({
        errors: errors.filter(({ error }) => !connectionErrors.includes(error.code)),
      }));
      refresh();
    }),
  ];
  return () => {
    clearTimeout(pollTimer);
    changes.stop();
    for (const stop of stops) stop();
  };
}
