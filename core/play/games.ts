import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { memory } from '../base/limits.ts';
import type { Notices } from '../base/notices.ts';
import type { Game as GameState, HumanSuccess, PlayChoices, PlayResult } from '../contract/contract.ts';
import { asFailure, Failure } from '../contract/failure.ts';
import { bytes } from '../contract/numbers.ts';
import { ownSettings, samplingOf } from '../evaluations/target.ts';
import type { RunConfig } from '../run-config/schema.ts';
import { validateConfig } from '../run-config/validate.ts';
import { checkpointsOf, requireCheckpoint } from '../run-directory/checkpoints.ts';
import { checkpointPath, wholeWeights } from '../run-directory/names.ts';
import type { Annotations } from '../runs/annotations.ts';
import type { Runs } from '../runs/runs.ts';
import type { LineProcess } from '../trainer/line-process.ts';
import type { Trainer } from '../trainer/trainer.ts';
import { Game, type GameParts, gameUnknown } from './game.ts';
import { minLevels, readHumanSuccess } from './human-success.ts';
import { PolicyThread } from './policy-thread.ts';

interface GamesParts {
  runs: Runs;
  trainer: Trainer;
  annotations: Annotations;
  notices: Notices;
  log: (message: string) => void;
}

interface GameRequest {
  runId: string;
  checkpoint: number;
  environment?: string | undefined;
  level?: number | undefined;
}

/** ONNX Runtime holds the weights twice: as loaded and prepacked. */
const weightCopies = 2;

/** Open games, one per client. */
export class Games {
  private readonly parts: GamesParts;
  private readonly games = new Map<string, Game>();
  private readonly owned = new Map<object, Game>();
  private readonly disconnected = new WeakSet<object>();
  /** Completion promises of live policy threads. */
  private readonly policies = new Set<Promise<void>>();
  private closed = false;

  constructor(parts: GamesParts) {
    this.parts = parts;
  }

  /** Throws `run_unknown`, `config_unreadable` or `config_invalid`. */
  async choices(runId: string): Promise<PlayChoices> {
    const config = await this.config(runId);
    const folder = this.parts.runs.folder(runId);
    return {
      checkpoints: checkpointsOf(folder).toReversed(),
      environments: config.environments.map(({ label, type }) => ({ label, type })),
      sampling: samplingOf(ownSettings(config)),
      humanSuccess: readHumanSuccess(folder),
    };
  }

  /** See `play.open` of the API. */
  async open(client: object, { runId, checkpoint, environment: label, level = 1 }: GameRequest): Promise<GameState> {
    const config = await this.config(runId);
    const environment = label
      ? config.environments.find((each) => each.label === label)
      : (config.environments.find(({ validate }) => validate) ?? config.environments[0]);
    if (!environment)
      throw new Failure(
        'environment_unknown',
        `The run has no environment "${label}".`,
        `Environments: ${config.environments.map((each) => each.label).join(', ')}.`,
      );
    const { trainer, notices } = this.parts;
    trainer.require();
    trainer.confirmed?.require({ environments: [environment], reward: null });
    await this.release(client);
    const policy = await this.loadPolicy(runId, checkpoint);
    const noise = environment.noise === 'reference' ? undefined : config.levels.validation_seed;
    const processes: LineProcess[] = [];
    const owned = <Process extends LineProcess>(process: Process): Process => {
      processes.push(process);
      return process;
    };
    try {
      const parts: GameParts = {
        ...{ runId, config, environment },
        // All checkpoints of a run have the same tokenizer, so the process also serves those chosen later.
        episode: owned(trainer.play(this.parts.runs.folder(runId), checkpoint, environment.label)),
        level: owned(trainer.environment(environment.type, environment.config, noise)),
        onChange: (state) => notices.emit('play', { runId, game: state }),
        onUserResult: (results) => void this.saveRate(runId, environment.label, results),
      };
      const game = await Game.begin(parts, policy, { checkpoint, level });
      await this.release(client);
      if (this.closed || this.disconnected.has(client)) throw gameUnknown();
      this.games.set(game.id, game);
      this.owned.set(client, game);
      return game.state;
    } catch (error) {
      for (const process of processes) process.close();
      await policy.close();
      throw error;
    }
  }

  /** Throws `game_unknown`. */
  find(id: string): Game {
    const game = this.games.get(id);
    if (game) return game;
    throw gameUnknown();
  }

  /** Switches to another checkpoint. Throws as `open` does. */
  async setCheckpoint(id: string, checkpoint: number): Promise<GameState> {
    const game = this.find(id);
    const policy = await this.loadPolicy(game.runId, checkpoint);
    if (this.games.get(id) === game) return game.replacePolicy(policy, checkpoint);
    await policy.close();
    throw gameUnknown();
  }

  async end(id: string): Promise<void> {
    for (const [client, game] of this.owned) if (game.id === id) await this.release(client);
  }

  /** Closes the game of a client that disconnected. */
  async disconnect(client: object): Promise<void> {
    this.disconnected.add(client);
    await this.release(client);
  }

  private async release(client: object): Promise<void> {
    const game = this.owned.get(client);
    if (!game) return;
    this.owned.delete(client);
    this.games.delete(game.id);
    await game.close();
  }

  /** Waits for all policy threads to end before the process exits. */
  async close(): Promise<void> {
    this.closed = true;
    await Promise.all([...this.owned.keys()].map((client) => this.release(client)));
    await Promise.all(this.policies);
  }

  private async loadPolicy(runId: string, checkpoint: number): Promise<PolicyThread> {
    const runFolder = this.parts.runs.folder(runId);
    requireCheckpoint(runFolder, checkpoint);
    const folder = join(runFolder, checkpointPath(checkpoint));
    const needed = (await stat(join(folder, wholeWeights))).size * weightCopies;
    const { total, used } = memory();
    if (needed > total - used)
      throw new Failure(
        'memory_low',
        `The policy needs about ${bytes(needed)} of memory, but only ${bytes(total - used)} is free.`,
        'Close other programs, or stop running runs.',
      );
    const started = PolicyThread.start(folder);
    const ended: Promise<void> = started
      .then(
        (policy) => policy.exited,
        () => {},
      )
      .finally(() => this.policies.delete(ended));
    this.policies.add(ended);
    return started;
  }

  /** Saves the user's success rate after enough levels. Errors are only logged. */
  private async saveRate(runId: string, environment: string, results: readonly PlayResult[]): Promise<void> {
    const attempts = results.flatMap(({ you }) => you ?? []);
    if (attempts.length < minLevels) return;
    const successes = attempts.filter(({ success }) => success).length;
    const rate: HumanSuccess = { environment, levels: attempts.length, successes };
    try {
      await this.parts.annotations.add(runId, { type: 'human_success', ...rate });
      const humanSuccess = readHumanSuccess(this.parts.runs.folder(runId));
      this.parts.notices.emit('humanSuccess', { runId, humanSuccess });
    } catch (error) {
      this.parts.log(`Can't save the user's success rate for run ${runId}: ${asFailure(error).message}`);
    }
  }

  private async config(runId: string): Promise<RunConfig> {
    return validateConfig(await this.parts.runs.config(runId));
  }
}
