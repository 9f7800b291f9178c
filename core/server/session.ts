import type { Input, Notice, NoticeName } from '../contract/contract.ts';
import { runOf, topicKey } from '../contract/topics.ts';

/** Bytes of notices that may be under way to a client before some are left out. */
const mostUnderWay = 1 << 20;
/** Bytes of notices after which a client is asked how far it is, and the longest time (ms) without asking. */
const askAfter = mostUnderWay / 4;
const beatInterval = 5000;
/** A client that hasn't answered a beat for so long (ms) is gone. */
const patience = 30_000;

type Topics = Input<'notices.subscribe'>;

export interface SessionParts {
  /** Sends a notice and gives how long it is. */
  send(name: NoticeName, payload: unknown): number;
  /** Ends the connection. */
  close(): void;
}

/**
 * A client's subscriptions and how much is in flight to it. The client answers beats in order, which bounds the data in flight on any transport.
 * Above the bound, notices are dropped until the client has caught up; then it is asked to request the current state again.
 */
export class Session {
  private readonly parts: SessionParts;
  private readonly topics = new Set<string>();
  private readonly timer: NodeJS.Timeout;
  private sent = 0;
  private heard = 0;
  private beat = 0;
  /** Unanswered beats, oldest first: when each was sent (by a clock that stops while the machine sleeps), and after how many bytes. */
  private beats: { beat: number; time: number; sent: number }[] = [];
  private behind = false;

  constructor(parts: SessionParts) {
    this.parts = parts;
    this.timer = setInterval(() => this.look(), beatInterval);
    this.timer.unref();
  }

  /** Implements `notices.subscribe`. */
  subscribe({ add, remove }: Topics): void {
    for (const topic of add) this.topics.add(topicKey(topic));
    for (const topic of remove) this.topics.delete(topicKey(topic));
  }

  deliver<N extends NoticeName>(name: N, payload: Notice<N>): void {
    const runId = runOf(name, payload);
    if (!this.topics.has(name) && !this.topics.has(topicKey({ name, runId }))) return;
    if (this.behind || this.sent - this.heard > mostUnderWay) {
      this.behind = true;
      return;
    }
    this.sent += this.parts.send(name, payload);
    if (this.sent - (this.beats.at(-1)?.sent ?? this.heard) > askAfter) this.ask();
  }

  /** Implements `notices.heard`. */
  answered({ beat }: Input<'notices.heard'>): void {
    const index = this.beats.findIndex((each) => each.beat === beat);
    if (index < 0) return;
    this.heard = this.beats[index]!.sent;
    this.beats = this.beats.slice(index + 1);
    if (!this.behind || this.beats.length > 0) return;
    this.behind = false;
    this.parts.send('missed', {});
  }

  close(): void {
    clearInterval(this.timer);
    this.topics.clear();
  }

  private ask(): void {
    this.beats.push({ beat: ++this.beat, time: performance.now(), sent: this.sent });
    this.parts.send('beat', { beat: this.beat });
  }

  private look(): void {
    const [oldest] = this.beats;
    if (!oldest) this.ask();
    else if (performance.now() - oldest.time > patience) this.parts.close();
  }
}
