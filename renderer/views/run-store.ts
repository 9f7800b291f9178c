import { createStore, type StoreApi } from 'zustand';
import type {
  Alert,
  EchoTrap,
  Evaluation,
  FirstStepCheck,
  HumanSuccess,
  LogLine,
  MemoryPlan,
  Notice,
  RolloutFile,
  RunStorage,
} from '../../core/contract/contract.ts';
import { Failure } from '../../core/contract/failure.ts';
import { type Api, isConnectionLost, onOpen } from '../api/api.ts';
import { RunSeries } from '../charts/run-series.ts';
import { createCatchUp } from '../stores/catch-up.ts';
import { loadSeries } from './load-series.ts';

const maxLogLines = 2000;

export interface RunState {
  runId: string;
  /** False until the series are loaded. */
  loaded: boolean;
  /** The error if the run is unknown or unreadable. */
  problem: unknown;
  config: unknown;
  folder: string;
  /** The trainer's memory plan; null if it made none. */
  memoryPlan: MemoryPlan | null;
  /** Null before the first update, and for imported runs. */
  firstStepCheck: FirstStepCheck | null;
  /** Success of humans on the run's levels, by environment. */
  humanSuccess: HumanSuccess[];
  series: RunSeries;
  log: LogLine[];
  rollouts: RolloutFile[];
  /** On-demand evaluations, newest first. */
  evaluations: Evaluation[];
  /** Null until measured. */
  storage: RunStorage | null;
  alerts: Alert[];
  /** State of the Echo Trap monitor; null without data, undefined until it is loaded. */
  echoTrap: EchoTrap | null | undefined;
}

export type RunStore = StoreApi<RunState>;

/** Creates a store without data. */
export const createRunStore = (runId: string): RunStore =>
  createStore<RunState>()(() => ({
    runId,
    loaded: false,
    problem: null,
    config: null,
    folder: '',
    memoryPlan: null,
    firstStepCheck: null,
    humanSuccess: [],
    series: new RunSeries(),
    log: [],
    rollouts: [],
    evaluations: [],
    storage: null,
    alerts: [],
    echoTrap: undefined,
  }));

/** Keeps the store up to date until the returned function is called. */
export function followRun(api: Api, store: RunStore): () => void {
  const { runId } = store.getState();
  let followed = true;
  const catchUp = createCatchUp();
  const trapCatchUp = createCatchUp();

  const request = () =>
    Promise.all([
      api.call('runs.get', { runId }),
      loadSeries(api, runId),
      api.call('runs.log', { runId }),
      api.call('rollouts.list', { runId }),
      api.call('evaluations.list', { runId }),
      api.call('alerts.list', { runId }),
    ]);
  type Answers = Awaited<ReturnType<typeof request>>;

  /** A separate request, because the server reads the size of every file. */
  function measure(): void {
    api
      .call('runs.storage', { runId })
      .then((storage) => followed && store.setState({ storage }))
      .catch(() => {});
  }

  function load(answers: Answers): void {
    if (!followed) return;
    const [
      { config, folder, memoryPlan, firstStepCheck, humanSuccess },
      putSeries,
      log,
      rollouts,
      evaluations,
      alerts,
    ] = answers;
    putSeries(store.getState().series);
    store.setState({
      loaded: true,
      problem: null,
      config,
      folder,
      memoryPlan,
      firstStepCheck,
      humanSuccess,
      log: log.reduce(withLine, []),
      rollouts: rollouts.reduce(withFile, []),
      evaluations,
      alerts,
    });
    measure();
  }

  /** A separate request, because the monitor may have to process a long run from its start. */
  function loadEchoTrap(): void {
    const request = () => api.call('echoTrap.state', { runId });
    trapCatchUp.snapshot(request, (echoTrap) => followed && store.setState({ echoTrap })).catch(() => {});
  }

  function fail(problem: unknown): void {
    if (followed && !isConnectionLost(problem)) store.setState({ problem });
  }

  function applyMetrics(notice: Notice<'metrics'>): void {
    const { truncateAfter } = notice;
    store.getState().series.apply(notice);
    if (truncateAfter === null) return;
    store.setState(({ rollouts }) => ({
      rollouts: rollouts.filter(({ iteration }) => iteration <= truncateAfter),
    }));
  }

  const stops = [
    api.on('metrics', (notice) => catchUp.notice(() => applyMetrics(notice)), runId),
    api.on(
      'log',
      ({ line }) => catchUp.notice(() => store.setState(({ log }) => ({ log: withLine(log, line) }))),
      runId,
    ),
    api.on('humanSuccess', ({ humanSuccess }) => catchUp.notice(() => store.setState({ humanSuccess })), runId),
    api.on('memoryPlan', ({ plan }) => catchUp.notice(() => store.setState({ memoryPlan: plan })), runId),
    api.on('firstStepCheck', ({ check }) => catchUp.notice(() => store.setState({ firstStepCheck: check })), runId),
    api.on(
      'rollout',
      ({ file }) => catchUp.notice(() => store.setState(({ rollouts }) => ({ rollouts: withFile(rollouts, file) }))),
      runId,
    ),
    api.on(
      'evaluation',
      ({ evaluation }) =>
        catchUp.notice(() =>
          store.setState(({ evaluations }) => ({ evaluations: withEvaluation(evaluations, evaluation) })),
        ),
      runId,
    ),
    api.on(
      'rolloutRemoved',
      ({ iteration, split }) => {
        const others = (file: RolloutFile) => file.iteration !== iteration || file.split !== split;
        catchUp.notice(() => store.setState(({ rollouts }) => ({ rollouts: rollouts.filter(others) })));
      },
      runId,
    ),
    api.on('storage', ({ storage }) => store.setState({ storage }), runId),
    api.on('alerts', ({ alerts }) => catchUp.notice(() => store.setState({ alerts })), runId),
    api.on('echoTrap', ({ echoTrap }) => trapCatchUp.notice(() => store.setState({ echoTrap })), runId),
    api.on('removed', () => store.setState({ problem: runGone() }), runId),
    // The run may have been indexed since.
    api.on(
      'run',
      () => {
        if (store.getState().problem === null) return;
        catchUp.snapshot(request, load).catch(fail);
        loadEchoTrap();
      },
      runId,
    ),
    onOpen(api, () => {
      catchUp.snapshot(request, load).catch(fail);
      loadEchoTrap();
    }),
  ];
  return () => {
    followed = false;
    for (const stop of stops) stop();
  };
}

const runGone = () =>
  new Failure(
    'run_gone',
    'Run not found.',
    'The run may have been deleted or moved. The trash in History keeps deleted runs for 7 days.',
  );

/** Inserts the line in journal order; duplicates are ignored. */
export function withLine(log: LogLine[], line: LogLine): LogLine[] {
  const last = log.at(-1);
  if (!last || last.seq < line.seq) return [...log, line].slice(-maxLogLines);
  return [...log.filter(({ seq }) => seq !== line.seq), line].sort((a, b) => a.seq - b.seq).slice(-maxLogLines);
}

/** Inserts or replaces a file. Order: newest iteration first, training before evaluations. */
export function withFile(files: RolloutFile[], file: RolloutFile): RolloutFile[] {
  const others = files.filter(({ iteration, split }) => iteration !== file.iteration || split !== file.split);
  const rank = ({ split }: RolloutFile) => (split === 'train' ? 0 : 1);
  return [...others, file].sort(
    (a, b) => b.iteration - a.iteration || rank(a) - rank(b) || a.split.localeCompare(b.split),
  );
}

/** Inserts, replaces or, if it was canceled, removes an evaluation. Order: newest first. */
export function withEvaluation(evaluations: Evaluation[], evaluation: Evaluation): Evaluation[] {
  const others = evaluations.filter(({ name }) => name !== evaluation.name);
  if (evaluation.state === 'canceled') return others;
  return [...others, evaluation].sort((a, b) => b.time - a.time);
}
