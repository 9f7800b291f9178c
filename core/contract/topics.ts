import type { Input, Notice, NoticeName } from './contract.ts';

export type Topic = Input<'notices.subscribe'>['add'][number];

/** Identifies a topic: a kind of notice, for all runs or for one. */
export const topicKey = ({ name, runId }: Topic) => (runId ? `${name} ${runId}` : name);

/** The run that a notice is about; undefined where it is about none. */
export function runOf<N extends NoticeName>(name: N, payload: Notice<N>): string | undefined {
  const { runId, id } = payload as { runId?: string | null; id?: string };
  return name === 'run' ? id : (runId ?? undefined);
}
