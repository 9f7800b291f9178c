import { setTimeout as pause } from 'node:timers/promises';
import type { Actions } from './actions.ts';
import { type Manifest, valueAt } from './manifest.ts';
import { type Reply, ServerError, type Session } from './session.ts';
import { anchorOf, boardOf, legalActions, newPart, textOf, toolList, toolText } from './texts.ts';

/** Longest observation, so that an answer fits in a line of 1 MB. */
const longestText = 400_000;
/** How long to wait for room on a full server where no episode of ours runs, in ms. */
const roomLimit = 10_000;

export interface ResetRequest {
  seed: number;
  split: 'train' | 'validation';
}

interface Episode {
  session: Session;
  /** The last observation as the policy sees it, and its whole text, which the next one may repeat. */
  observation: string;
  whole: string;
  done: boolean;
}

type Answer = Record<string, unknown>;
/** Opens an episode on the server. */
type Open = () => Promise<Session>;

/** Plays OpenEnv episodes for the trainer (docs/formats/process-environment.md). Each has its own connection. */
export class Adapter {
  private readonly open: Open;
  private readonly manifest: Manifest;
  private readonly actions: Actions;
  private readonly episodes = new Map<number, Episode>();
  private readonly closing = new Set<Promise<void>>();
  /** Episodes that the trainer closed before their reset was answered. */
  private readonly resetting = new Set<number>();
  private readonly abandoned = new Set<number>();

  constructor(open: Open, manifest: Manifest, actions: Actions) {
    this.open = open;
    this.manifest = manifest;
    this.actions = actions;
  }

  /** Answers a reset: `busy` if the server has no room beside our episodes. */
  async reset(id: number, request: ResetRequest): Promise<Answer> {
    this.resetting.add(id);
    try {
      const begun = await this.begin(request);
      if (!begun) return { busy: true };
      const { session, reply, tools } = begun;
      const whole = [textOf(reply.observation, this.manifest), tools].filter(Boolean).join('\n\n');
      const episode = { session, observation: whole, whole, done: false };
      if (this.abandoned.delete(id)) this.leave(session);
      else this.episodes.set(id, episode);
      return { ...this.stateOf(reply, whole) };
    } finally {
      this.resetting.delete(id);
    }
  }

  async step(id: number, response: string): Promise<Answer> {
    const episode = this.episodes.get(id);
    if (!episode || episode.done) throw new ServerError('invalid', 'the episode has ended');
    const parsed = this.actions.parse(response);
    if ('problem' in parsed) return this.invalid(episode, parsed.problem);
    let answer: Reply;
    try {
      answer = await episode.session.step(parsed.action);
    } catch (error) {
      if (error instanceof ServerError && error.code === 'VALIDATION_ERROR')
        return this.invalid(episode, error.message);
      throw error;
    }
    const reward = answer.reward ?? this.manifest.null_reward ?? (this.actions.areTools ? 0 : null);
    if (reward === null) throw new ServerError('invalid', 'the reward of a step is null, which can mean NaN');
    const success = answer.done && (await this.isSuccess(episode.session, answer.observation, reward));
    const tool = this.actions.areTools ? toolText(answer.observation) : null;
    const whole = tool?.text ?? textOf(answer.observation, this.manifest);
    episode.observation = this.manifest.text_repeats ? newPart(whole, episode.whole) : whole;
    episode.whole = whole;
    if (answer.done) {
      episode.done = true;
      this.leave(episode.session);
    }
    return {
      ...this.stateOf(answer, episode.observation),
      ...{ reward, done: answer.done, success, valid: tool?.valid ?? true },
    };
  }

  /** Ends an episode. One whose reset or step has no answer is abandoned. */
  close(id: number): void {
    const episode = this.episodes.get(id);
    if (this.resetting.has(id)) this.abandoned.add(id);
    if (episode && !episode.done) this.leave(episode.session);
    this.episodes.delete(id);
  }

  /** Ends all episodes, and resolves when the server has closed their connections. */
  async end(): Promise<void> {
    for (const id of [...this.episodes.keys()]) this.close(id);
    await Promise.all(this.closing);
  }

  private leave(session: Session): void {
    const closed = session.close().finally(() => this.closing.delete(closed));
    this.closing.add(closed);
  }

  /** Opens an episode. Returns null if the server has no room. */
  private async begin(request: ResetRequest): Promise<{ session: Session; reply: Reply; tools: string } | null> {
    const start = Date.now();
    for (let wait = 50; ; wait = Math.min(2 * wait, 1000)) {
      // A place is free only after the server has closed the connection.
      await Promise.all(this.closing);
      let session: Session | null = null;
      try {
        session = await this.open();
        const reply = await session.reset({ seed: request.seed, ...this.manifest.reset[request.split] });
        const tools = this.actions.areTools ? toolList((await session.step({ type: 'list_tools' })).observation) : '';
        return { session, reply, tools };
      } catch (error) {
        if (session) this.leave(session);
        const waited = Date.now() - start;
        const { code } = error as ServerError;
        if (code === 'CAPACITY_REACHED') {
          const playing = [...this.episodes.values()].some(({ done }) => !done);
          if (playing && wait > 50) return null;
          if (waited >= roomLimit) return null;
        } else if (code !== 'unreachable' || waited >= this.manifest.connect_seconds * 1000) {
          throw error;
        }
        await pause(wait);
      }
    }
  }

  private stateOf({ observation }: Reply, text: string): Answer {
    if (text.length > longestText)
      throw new ServerError(
        'invalid',
        `an observation has ${text.length} characters; at most ${longestText} are allowed`,
      );
    const [board, anchor] = [boardOf(observation, this.manifest), anchorOf(observation, this.manifest)];
    const actions = legalActions(observation, this.manifest);
    return {
      observation: text,
      ...(board !== null && { board: board.slice(0, longestText) }),
      ...(anchor !== null && { anchor }),
      ...(actions && { actions }),
    };
  }

  /** Answers an invalid action of the policy. The state does not change. */
  private invalid({ observation }: Episode, problem: string): Answer {
    const text = `Invalid action: ${problem.slice(0, 300)}\n\n${observation}`;
    return { observation: text, reward: 0, done: false, valid: false, effective: false };
  }

  private async isSuccess(session: Session, observation: Record<string, unknown>, reward: number): Promise<boolean> {
    const { success } = this.manifest;
    if (!success) return reward > 0;
    const ofState = success.field.startsWith('state.');
    const value = valueAt(ofState ? { state: await session.state() } : observation, success.field);
    return success.equals === undefined ? value === true : JSON.stringify(value) === JSON.stringify(success.equals);
  }
}
