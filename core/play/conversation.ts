import type { Policy } from './policy.ts';
import { type Sampling, sampleToken } from './sampler.ts';
import type { ChatTokenizer } from './tokenizer.ts';

/** The prompt of a turn; the system prompt is part of the first turn only. */
export interface Message {
  system: string;
  user: string;
}

/** As `rollout` of run.json has them. */
export interface ReplyRules extends Sampling {
  think: boolean;
  maxTokens: number;
  /** Tokens of a whole conversation. */
  context: number;
}

export interface Reply {
  /** The forced prefix and what was sampled, without the token that ended it. */
  text: string;
  tokens: number;
  /** The limit cut it. */
  cut: boolean;
}

/** Interval in ms between updates of a response in progress. */
const interval = 50;

/** A conversation with a policy, turn by turn, in ChatML as in training: control tokens are placed by id. Ids in, ids out, through the policy's cache. */
export class Conversation {
  private readonly policy: Policy;
  private readonly tokenizer: ChatTokenizer;
  private readonly stopIds: ReadonlySet<number>;
  private readonly turnStart: number;
  private readonly turnEnd: number;
  /** Ids that the policy hasn't read yet. */
  private pending: number[] = [];
  private turns = 0;

  /** `stopIds`: those that end a reply as `<|im_end|>` does. */
  constructor(policy: Policy, tokenizer: ChatTokenizer, stopIds: readonly number[]) {
    this.policy = policy;
    this.tokenizer = tokenizer;
    this.turnStart = tokenizer.idOf('<|im_start|>');
    this.turnEnd = tokenizer.idOf('<|im_end|>');
    this.stopIds = new Set([this.turnEnd, ...stopIds]);
    policy.forget();
  }

  /** Returns the policy's response, or null if message and response exceed the context. `told` is called with the text so far. Throws the signal's reason. */
  async reply(
    message: Message,
    rules: ReplyRules,
    told: (text: string) => void,
    signal: AbortSignal,
  ): Promise<Reply | null> {
    const context = this.contextOf(message, rules.think);
    const length = this.policy.length + this.pending.length + context.length;
    if (length + rules.maxTokens > rules.context) return null;
    this.pending.push(...context);
    this.turns += 1;

    const prefix = prefixOf(rules.think);
    const ids: number[] = [];
    let toldAt = 0;
    for (;;) {
      signal.throwIfAborted();
      const logits = await this.policy.read(this.pending);
      const id = sampleToken(logits, rules, Math.random());
      this.pending = [id];
      const ended = this.stopIds.has(id);
      if (!ended) ids.push(id);
      const tokens = ids.length + Number(ended);
      const cut = !ended && tokens === rules.maxTokens;
      if (ended || cut) return { text: prefix + this.tokenizer.decode(ids), tokens, cut };
      if (performance.now() - toldAt >= interval) {
        toldAt = performance.now();
        told(prefix + this.tokenizer.decode(ids));
      }
    }
  }

  /** Ids before the first one that is sampled; a reply that didn't end with `<|im_end|>` is ended first. */
  private contextOf({ system, user }: Message, think: boolean): number[] {
    const { tokenizer, turnStart, turnEnd } = this;
    const newline = tokenizer.encode('\n');
    const message = (role: string, content: string) => [
      turnStart,
      ...tokenizer.encode(`${role}\n${content}`),
      turnEnd,
      ...newline,
    ];
    const generation = [turnStart, ...tokenizer.encode(`assistant\n${prefixOf(think)}`)];
    if (this.turns === 0)
      return [...(system === '' ? [] : message('system', system)), ...message('user', user), ...generation];
    const repair = this.pending.at(-1) === turnEnd ? [] : [turnEnd];
    return [...repair, ...newline, ...message('user', user), ...generation];
  }
}

/** What every reply begins with. */
const prefixOf = (think: boolean) => (think ? '<think>' : '<answer>');
