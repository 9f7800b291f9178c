import { createBirpc } from 'birpc';
import type { Channel } from '../../core/contract/client.ts';
import {
  type Alert,
  type ApiError,
  type Device,
  type Evaluation,
  type EvaluationChoices,
  type MemoryPlan,
  type ModelState,
  type Notice,
  type NoticeName,
  notices,
  type PresetCard,
  type ProcedureName,
  procedures,
  type Replay,
  type RunMarks,
  type RunStorage,
  type RunSummary,
} from '../../core/contract/contract.ts';
import { log, presets, processor, sampleRuns, seriesOf, storage } from './fake-data.ts';
import { banditEpisode, lakeEpisode } from './fake-episodes.ts';
import { sokobanEpisode } from './fake-sokoban.ts';

const groups = 8;
const groupSize = 16;

/** A core with made-up runs that speaks the real protocol; every answer and notice is checked against the contract. */
export class FakeCore {
  readonly runs: RunSummary[];
  presets: PresetCard[] = presets;
  trainerProblem: string | null = null;
  readonly commands: string[] = [];
  readonly evaluations: Evaluation[] = [];
  storage: RunStorage = storage;
  devices: Device[] = [processor];
  memoryPlan: MemoryPlan | null = null;
  /** Where the published model is; null: nowhere. */
  modelFolder: string | null = null;
  alerts: Alert[] = [];
  #rpc: { notice: (name: string, payload: unknown) => unknown } | null = null;

  constructor(runs: RunSummary[] = sampleRuns()) {
    this.runs = runs;
  }

  serve(channel: Channel): void {
    this.#rpc = createBirpc<
      { notice: (name: string, payload: unknown) => void },
      { call: (name: string, input: unknown) => unknown }
    >(
      { call: (name, input) => this.#call(name as ProcedureName, input) },
      {
        post: (text: string) => channel.send(text),
        on: (handler) => channel.onMessage(handler),
        serialize: (message) => JSON.stringify(message),
        deserialize: (text) => JSON.parse(text),
        eventNames: ['notice'],
      },
    );
  }

  notify<N extends NoticeName>(name: N, notice: Notice<N>): void {
    void this.#rpc?.notice(name, notices[name].parse(notice));
  }

  /** Finishes an iteration of a run and tells of it. */
  advance(runId: string): void {
    const run = this.runs.find(({ id }) => id === runId)!;
    run.iteration += 1;
    const series = seriesOf(run, run.iteration);
    const metrics = Object.fromEntries(
      series.flatMap(({ name, iterations, values }) =>
        iterations.at(-1) === run.iteration ? [[name, values.at(-1)!]] : [],
      ),
    );
    this.notify('metrics', { runId, truncateAfter: null, points: [{ iteration: run.iteration, metrics }] });
    this.notify('run', run);
    this.notify('rollout', {
      runId,
      file: { iteration: run.iteration, split: 'train', episodes: groups * groupSize },
    });
  }

  #model(model: string, chosen: string | undefined): ModelState {
    const folder = chosen ?? this.modelFolder;
    const download = `hf download Qwen/${model} --local-dir ~/.local/share/starpo-studio/models/${model}`;
    if (folder !== null) return { folder, parameters: 494_032_768, problem: null, download };
    const problem = {
      code: 'model_missing',
      message: `${model} isn't on this machine: neither in ~/.local/share/starpo-studio/models/${model} nor in Hugging Face's cache ~/.cache/huggingface/hub.`,
      hint: `Download it with \`${download}\`, or set start.model to where it is.`,
    };
    return { folder: null, parameters: null, problem, download };
  }

  #queued(): string[] {
    const waiting = this.runs.filter(({ queuePosition }) => queuePosition !== null);
    return waiting.sort((a, b) => a.queuePosition! - b.queuePosition!).map(({ id }) => id);
  }

  #queue(ids: string[]): void {
    for (const run of this.runs) {
      const index = ids.indexOf(run.id);
      if (run.status === 'queued') run.status = 'created';
      run.queuePosition = index < 0 ? null : index + 1;
      if (index >= 0) run.status = 'queued';
      this.notify('run', run);
    }
  }

  async #call(name: ProcedureName, input: unknown): Promise<unknown> {
    const procedure = procedures[name];
    const checked = procedure.input.parse(input) as never;
    const answer = this.#answer(name, checked);
    if ('error' in answer) return { ok: false, error: answer.error };
    return { ok: true, value: procedure.output.parse(answer.value) };
  }

  #answer(
    name: ProcedureName,
    input: {
      runId: string;
      preset: string;
      command: string;
      iteration: number;
      split: string;
      episodeId: string;
      name: string;
      checkpoint: number;
      on: string;
      group: number;
      files: { iteration: number; split: string }[];
      position: number;
      alertId: string;
      state: Alert['state'];
      queue?: boolean;
      model: string;
      folder?: string;
      set?: Record<string, string>;
      addTags?: string[];
      removeTags?: string[];
    } & Partial<RunMarks>,
  ): { value: unknown } | { error: ApiError } {
    const run = this.runs.find(({ id }) => id === input.runId);
    if ('runId' in input && !run) {
      return {
        error: {
          code: 'run_not_found',
          message: `There is no run ${input.runId}.`,
          hint: 'Pick a run from the list.',
        },
      };
    }
    switch (name) {
      case 'notices.subscribe':
      case 'notices.heard':
      case 'tasks.cancel':
      case 'history.ready':
        return { value: {} };
      case 'tasks.list':
        return { value: [] };
      case 'system.info':
        return {
          value: {
            version: '0.1.0',
            dataFolder: '~/.local/share/starpo',
            trainer: { path: 'starpo-trainer', build: '0.1.0', problem: this.trainerProblem },
            devices: this.devices,
            cuda: null,
            cores: 8,
          },
        };
      // What only the command line asks.
      case 'trainer.require':
      case 'history.rebuild':
      case 'runs.events':
        throw new Error(`No page asks for ${name}.`);
      case 'presets.list':
        return { value: this.presets };
      case 'presets.config':
        return { value: { config: { version: 1, preset: input.preset, device: 'cuda' } } };
      case 'models.inspect':
        return { value: this.#model(input.model, input.folder) };
      case 'runs.list':
        return { value: this.runs };
      case 'runs.get':
        return {
          value: {
            summary: run,
            config: {
              version: 1,
              preset: run!.preset,
              task: run!.task,
              seed: 1,
              iterations: run!.iterations,
              rollout: { groups, group_size: groupSize },
            },
            folder: `~/.local/share/starpo/runs/${run!.id}`,
            memoryPlan: this.memoryPlan,
          },
        };
      case 'runs.create': {
        const made = {
          ...sampleRuns()[0]!,
          id: `made-${this.runs.length}`,
          name: `${input.preset} ${this.runs.length}`,
          preset: input.preset,
          marks: { tags: Object.values(input.set ?? {}), note: '', starred: false, archived: false },
          iteration: 0,
          createdAt: Date.now(),
          latest: {},
        };
        this.runs.push(made);
        if (input.queue) this.#queue([...this.#queued(), made.id]);
        this.notify('run', made);
        return { value: { runId: made.id } };
      }
      case 'runs.start':
      case 'runs.command':
        this.commands.push(input.command ?? 'start');
        return { value: { accepted: true, message: '' } };
      case 'runs.storage':
        return { value: this.storage };
      case 'runs.adopt':
        return { value: run };
      case 'runs.annotate': {
        const { addTags = [], removeTags = [], note, starred, archived } = input;
        const { marks } = run!;
        const tags = [...new Set([...marks.tags, ...addTags])].filter((tag) => !removeTags.includes(tag));
        run!.marks = {
          tags: tags.sort(),
          note: note ?? marks.note,
          starred: starred ?? marks.starred,
          archived: archived ?? marks.archived,
        };
        this.notify('run', run!);
        return { value: run!.marks };
      }
      case 'alerts.answer':
        this.alerts = this.alerts.map((alert) =>
          alert.id === input.alertId ? { ...alert, state: input.state } : alert,
        );
        this.notify('alerts', { runId: run!.id, alerts: this.alerts });
        return { value: this.alerts };
      case 'alerts.list':
        return { value: this.alerts };
      case 'queue.list':
        return { value: { runs: this.#queued(), problem: null, working: true } };
      case 'queue.work':
        return { value: {} };
      case 'queue.add':
      case 'queue.move':
      case 'queue.remove': {
        const others = this.#queued().filter((id) => id !== run!.id);
        const position = name === 'queue.move' ? input.position : others.length + 1;
        if (name !== 'queue.remove') others.splice(position - 1, 0, run!.id);
        this.#queue(others);
        return { value: { position } };
      }
      case 'runs.series':
        return { value: seriesOf(run!, run!.iteration) };
      case 'runs.log':
        return { value: run!.startedAt === null ? [] : log };
      case 'rollouts.list':
        return { value: filesOf(run!) };
      case 'rollouts.episodes': {
        const count = input.split === 'train' ? groups * groupSize : 256;
        return {
          value: Array.from(
            { length: count },
            (_, index) => episodeOf(run!, input.iteration, input.split, index).summary,
          ),
        };
      }
      case 'rollouts.replay': {
        const [iteration, index] = [Number(input.episodeId.slice(0, 6)), Number(input.episodeId.slice(-4))];
        return { value: episodeOf(run!, iteration, input.episodeId.slice(7, -5), index) };
      }
      case 'rollouts.level':
        return {
          value: input.files.map(
            ({ iteration, split }) => episodeOf(run!, iteration, split, input.group).summary,
          ),
        };
      case 'evaluations.choices':
        return { value: choicesOf(run!) };
      case 'evaluations.list':
        return { value: this.evaluations };
      case 'evaluations.get':
        return { value: this.evaluations.find(({ name }) => name === input.name) };
      case 'evaluations.start': {
        const started = evaluationOf({ checkpoint: input.checkpoint, label: input.on });
        this.evaluations.unshift(started);
        this.notify('evaluation', { runId: run!.id, evaluation: started });
        return { value: started };
      }
      case 'evaluations.cancel': {
        const at = this.evaluations.findIndex(({ name }) => name === input.name);
        const [cancelled] = this.evaluations.splice(at, 1);
        this.notify('evaluation', { runId: run!.id, evaluation: { ...cancelled!, state: 'cancelled' } });
        return { value: {} };
      }
      case 'evaluations.episodes':
      case 'evaluations.replay': {
        const { checkpoint, label, levels } = this.evaluations.find(({ name }) => name === input.name)!;
        const at = (index: number) => episodeOf(run!, checkpoint, label, index);
        return name === 'evaluations.replay'
          ? { value: at(Number(input.episodeId.slice(-4))) }
          : { value: Array.from({ length: levels }, (_, index) => at(index).summary) };
      }
    }
  }
}

export function episodeOf(run: RunSummary, iteration: number, split: string, index: number): Replay {
  const train = split === 'train';
  const place = {
    group: train ? Math.floor(index / groupSize) : index,
    member: train ? index % groupSize : 0,
  };
  const options = {
    iteration,
    split,
    index,
    ...place,
    groupSize,
    slippery: run.preset.includes('slippery'),
    skill: 0.5 + iteration / 400,
  };
  if (run.environments[0] === 'sokoban') return sokobanEpisode(options);
  return run.environments[0] === 'bandit' ? banditEpisode(options) : lakeEpisode(options);
}

/** One that has just begun. */
export function evaluationOf(change: Partial<Evaluation> = {}): Evaluation {
  const { checkpoint = 40, label = 'frozen-lake', changes = [] } = change;
  return {
    name: `${String(checkpoint).padStart(6, '0')}-${label}${changes.length > 0 ? '-2' : ''}`,
    state: 'running',
    time: Date.now(),
    checkpoint,
    label,
    environment: label,
    levels: 64,
    temperature: 0.5,
    seed: 123,
    changes,
    done: 0,
    etaSeconds: null,
    metrics: null,
    failure: null,
    ...change,
  };
}

function choicesOf(run: RunSummary): EvaluationChoices {
  const own = run.environments.map((on) => ({ on, type: on, own: true, config: { size: 4, p: 0.8 } }));
  const newest = Math.floor(run.iteration / 20) * 20;
  return {
    checkpoints: Array.from({ length: newest / 20 + 1 }, (_, index) => newest - 20 * index),
    environments: [...own, { on: 'other', type: 'other', own: false, config: {} }],
    levels: 256,
    temperature: 0.5,
    seed: 123,
  };
}

function filesOf(run: RunSummary) {
  if (run.startedAt === null) return [];
  const label = run.environments[0]!;
  const all = [{ iteration: 0, split: label, episodes: 256 }];
  for (let iteration = 1; iteration <= run.iteration; iteration++) {
    all.push({ iteration, split: 'train', episodes: groups * groupSize });
    if (iteration % 20 === 0) all.push({ iteration, split: label, episodes: 256 });
  }
  return all;
}
