import type { Input, Notice, NoticeName } from '../contract/contract.ts';
import { runOf, topicKey } from '../contract/topics.ts';

/** Bytes of notices that may be in flight to a client before some are dropped. */
const maxInFlight = 1 << 20;
/** A beat is sent after this many bytes of notices, or after this time in ms. */
const beatBytes = maxInFlight / 4;
const beatInterval = 5000;
/** Time in ms without an answer to a beat after which a client is disconnected. */
const beatTimeout = 30_000;

type Topics = Input<'notices.subscribe'>;

interface SessionParts {
  /** Sends a notice and returns the length of its message in UTF-16 code units, which is about its bytes. */
  send(name: NoticeName, payload: unknown): number;
  /** Ends the connection. */
  close(): void;
}

/**
 * A client's subscriptions and how much is in flight to it. The client answers beats in order, which bounds the data in flight on any transport.
 * Above the bound, notices are dropped until the client has caught up; then a notice makes it request the current state again.
 */
export class Session {
  private readonly parts: SessionParts;
  private readonly topics = new Set<string>();
  private readonly timer: NodeJS.Timeout;
  private sent = 0;
  private acknowledged = 0;
  private beat = 0;
  /** Unanswered beats, oldest first: the time of sending (by a clock that stops while the machine sleeps), and the bytes sent before it. */
  private beats: { beat: number; time: number; sent: number }[] = [];
  private behind = false;

  constructor(parts: SessionParts) {
    this.parts = parts;
    this.timer = setInterval(() => this.checkBeats(), beatInterval);
    this.timer.unref();
  }

  /** Implements `notices.subscribe`. */
  subscribe({ add, remove }: Topics): void {
    for (const topic of add) this.topics.add(topicKey(topic));
    for (const topic of remove) this.topics.delete(topicKey(topic));
  }

  /** Returns whether the client subscribed to notices of this name about all runs or this one. */
  accepts(name: NoticeName, runId: string | undefined): boolean {
    return this.topics.has(name) || this.topics.has(topicKey({ name, runId }));
  }

  deliver<N extends NoticeName>(name: N, payload: Notice<N>): void {
    if (!this.accepts(name, runOf(name, payload))) return;
    if (this.behind || this.sent - this.acknowledged > maxInFlight) {
      this.behind = true;
      return;
    }
    this.sent += this.parts.send(name, payload);
    if (this.sent - (this.beats.at(-1)?.sent ?? this.acknowledged) > beatBytes) this.sendBeat();
  }

  /** Implements `notices.acknowledge`. */
  acknowledge({ beat }: Input<'notices.acknowledge'>): void {
    const index = this.beats.findIndex((each) => each.beat === beat);
    if (index < 0) return;
    this.acknowledged = this.beats[index]!.sent;
    this.beats = this.beats.slice(index + 1);
    if (!this.behind || this.beats.length > 0) return;
    this.behind = false;
    this.parts.send('missed', {});
  }

  close(): void {
    clearInterval(this.timer);
    this.topics.clear();
  }

  private sendBeat(): void {
    this.beats.push({ beat: ++this.beat, time: performance.now(), sent: this.sent });
    this.parts.send('beat', { beat: this.beat });
  }

  private checkBeats(): void {
    const [oldest] = this.beats;
    if (!oldest) this.sendBeat();
    else if (performance.now() - oldest.time > beatTimeout) this.parts.close();
  }
}
