import type { Input, Notice, NoticeName } from './contract.ts';

export type Topic = Input<'notices.subscribe'>['add'][number];

/** Returns the key of a topic: a notice name, for all runs or for one. */
export const topicKey = ({ name, runId }: Topic) => (runId ? `${name} ${runId}` : name);

/** Returns the run that a notice concerns, or undefined. */
export function runOf<N extends NoticeName>(name: N, payload: Notice<N>): string | undefined {
  const { runId, id } = payload as { runId?: string | null; id?: string };
  return name === 'run' ? id : (runId ?? undefined);
}
