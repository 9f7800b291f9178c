import { create } from 'zustand';
import type { ApiError, PresetCard, RunSummary, SystemInfo } from '../../core/api/contract.ts';
import { asFailure } from '../../core/api/failure.ts';
import type { Api, ConnectionState } from '../api/api.ts';
import { titleOf } from '../components/run-facts.ts';

interface AppState {
  connection: ConnectionState;
  /** Newest first; null until first heard of. */
  runs: RunSummary[] | null;
  presets: PresetCard[] | null;
  system: SystemInfo | null;
  /** Errors the person hasn't put away yet, newest last. */
  errors: { key: number; error: ApiError }[];
  report: (cause: unknown) => void;
  dismiss: (key: number) => void;
  dismissAll: () => void;
}

let nextKey = 1;

export const useApp = create<AppState>()((set) => ({
  connection: 'connecting',
  runs: null,
  presets: null,
  system: null,
  errors: [],
  report: (cause) => {
    const error = asFailure(cause).toApiError();
    // The same thing going wrong again is one notice, not a pile.
    set(({ errors }) => ({
      errors: [
        ...errors.filter((shown) => shown.error.code !== error.code || shown.error.message !== error.message),
        { key: nextKey++, error },
      ].slice(-4),
    }));
  },
  dismiss: (key) => set(({ errors }) => ({ errors: errors.filter((shown) => shown.key !== key) })),
  dismissAll: () => set(({ errors }) => (errors.length > 0 ? { errors: [] } : {})),
}));

export function useRunSummary(runId: string): RunSummary | undefined {
  return useApp(({ runs }) => runs?.find(({ id }) => id === runId));
}

/** For calling runs by their titles, wherever they are shown. */
export function useRunTitle(): (run: RunSummary) => string {
  const presets = useApp((state) => state.presets);
  return (run) => titleOf(run, presets);
}

/** Puts a summary into the list, newest run first. */
export function withRun(runs: RunSummary[] | null, summary: RunSummary): RunSummary[] {
  const others = (runs ?? []).filter(({ id }) => id !== summary.id);
  return [...others, summary].sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1));
}

/** Keeps the store in step with core; after every reconnection all is asked for again, since notices may have been missed. */
export function followCore(api: Api): () => void {
  const { report } = useApp.getState();
  async function refresh(): Promise<void> {
    try {
      const [runs, presets, system] = await Promise.all([
        api.call('runs.list', {}),
        api.call('presets.list', {}),
        api.call('system.info', {}),
      ]);
      useApp.setState({ runs: runs.reduce<RunSummary[]>(withRun, []), presets, system });
    } catch (cause) {
      report(cause);
    }
  }
  const stops = [
    api.on('run', (summary) => useApp.setState(({ runs }) => ({ runs: withRun(runs, summary) }))),
    api.onState((connection) => {
      useApp.setState({ connection });
      if (connection === 'open') void refresh();
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}
