import { createBirpc } from 'birpc';
import type { Channel } from '../../core/api/client.ts';
import {
  type ApiError,
  type Notice,
  type NoticeName,
  notices,
  type PresetCard,
  type ProcedureName,
  procedures,
  type Replay,
  type RunSummary,
} from '../../core/api/contract.ts';
import { log, presets, sampleRuns, seriesOf } from './fake-data.ts';
import { banditEpisode, lakeEpisode } from './fake-episodes.ts';

const groups = 8;
const groupSize = 16;

/** A core with made-up runs that speaks the real protocol; every answer and notice is checked against the contract. */
export class FakeCore {
  readonly runs: RunSummary[];
  presets: PresetCard[] = presets;
  trainerProblem: string | null = null;
  readonly commands: string[] = [];
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
    },
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
      case 'system.info':
        return {
          value: {
            version: '0.1.0',
            dataFolder: '~/.local/share/starpo',
            trainer: { path: 'starpo-trainer', build: '0.1.0', problem: this.trainerProblem },
            devices: [{ id: 'cpu', name: 'CPU (AVX2)', available: true, reason: null }],
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
          },
        };
      case 'runs.create': {
        const made = {
          ...sampleRuns()[0]!,
          id: `made-${this.runs.length}`,
          name: `${input.preset} ${this.runs.length}`,
          preset: input.preset,
          iteration: 0,
          createdAt: Date.now(),
          latest: {},
        };
        this.runs.push(made);
        this.notify('run', made);
        return { value: { runId: made.id } };
      }
      case 'runs.start':
      case 'runs.command':
        this.commands.push(input.command ?? 'start');
        return { value: { accepted: true, message: '' } };
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
  return run.environments[0] === 'bandit' ? banditEpisode(options) : lakeEpisode(options);
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
