import { type Client, connectionLost } from '../../contract/client.ts';
import type { Evaluation } from '../../contract/contract.ts';
import { Failure } from '../../contract/failure.ts';
import type { NewEvaluation } from '../../evaluations/evaluations.ts';
import { asTask, type Wanted, whileWanted } from '../giving-up.ts';
import { percent, print } from '../output.ts';
import { resolveRun } from '../run-reference.ts';
import { acrossHosts, withStudio } from './with-client.ts';

export interface EvaluateOptions extends Omit<NewEvaluation, 'checkpoint'> {
  /** The newest where it isn't given. */
  checkpoint?: number | undefined;
  home?: string | undefined;
  json: boolean;
}

/**
 * Evaluates a checkpoint of a run, trained or in training, and prints the result; with `json` a line whenever it has come further, the last being
 * the result. Ctrl-C gives it up. It ends with the host of the data folder; then it is played anew by the next one.
 */
export async function evaluate(named: string, { home, json, ...wish }: EvaluateOptions): Promise<void> {
  const asked = { ...wish };
  let begun = false;
  const play = async (client: Client, { signal }: Wanted): Promise<Evaluation> => {
    await client.call('trainer.require', {});
    const runId = await resolveRun(client, named);
    const ended = whenEnded(client, runId, json);
    const checkpoint = asked.checkpoint ?? (await newestCheckpoint(client, runId));
    const start = () => client.call('evaluations.start', { ...asked, runId, checkpoint });
    const { name } = await asTask(
      client,
      { kind: 'evaluation', runId },
      // How far it is has lines of its own.
      { signal, progress: () => {} },
      start,
    ).catch((error) => {
      // The host has ended just after the evaluation.
      if (begun && error.code === 'evaluation_exists') return ended.already(asked.name!);
      throw error;
    });
    begun = true;
    Object.assign(asked, { checkpoint, name });
    const cancel = () => void client.call('evaluations.cancel', { runId, name }).catch(() => {});
    if (signal.aborted) cancel();
    signal.addEventListener('abort', cancel);
    return ended.of(name);
  };
  const { failure, ...evaluation } = await whileWanted(`Evaluating ${named}`, (wanted) =>
    withStudio({ home, endpoint: { port: 0 } }, (studio) =>
      acrossHosts(studio, (client) => play(client, wanted)),
    ),
  );
  if (failure) throw new Failure(failure.code, failure.message, failure.hint);
  if (!json) print(describe(evaluation));
}

async function newestCheckpoint(client: Client, runId: string): Promise<number> {
  const [newest] = (await client.call('evaluations.choices', { runId })).checkpoints;
  if (newest !== undefined) return newest;
  throw new Failure(
    'checkpoint_missing',
    `The run ${runId} has no checkpoint yet.`,
    'Its first is written after the evaluation at its start; start the run, or wait.',
  );
}

/** Prints progress, and keeps how each evaluation ended: that may be told before its name is known. */
function whenEnded(client: Client, runId: string, json: boolean) {
  const outcomes = new Map<string, Evaluation>();
  let look = () => {};
  const hear = (evaluation: Evaluation) => {
    if (json) print(JSON.stringify(evaluation));
    else if (evaluation.state === 'running') process.stderr.write(`${progressLine(evaluation)}\n`);
    if (evaluation.state !== 'running') outcomes.set(evaluation.name, evaluation);
    look();
  };
  client.on('evaluation', ({ evaluation }) => hear(evaluation), runId);
  return {
    /** For one that is there already. */
    already: async (name: string): Promise<Evaluation> => {
      const evaluation = await client.call('evaluations.get', { runId, name });
      hear(evaluation);
      return evaluation;
    },
    /** Throws `connection_lost` where core goes before. */
    of: (name: string) =>
      new Promise<Evaluation>((resolve, reject) => {
        look = () => {
          const outcome = outcomes.get(name);
          if (outcome) resolve(outcome);
        };
        client.onClose(() => reject(connectionLost()));
        look();
      }),
  };
}

function progressLine({ done, levels, etaSeconds }: Evaluation): string {
  return `${done} of ${levels} episodes${etaSeconds === null ? '' : `, ${Math.round(etaSeconds)} s left`}`;
}

function describe({
  name,
  label,
  checkpoint,
  levels,
  changes,
  metrics,
}: Omit<Evaluation, 'failure'>): string {
  const { success_rate, success_rate_low, success_rate_high, reward_mean } = metrics ?? {};
  const interval = `95 % interval ${percent(success_rate_low)} to ${percent(success_rate_high)}`;
  return [
    `${label} at checkpoint ${checkpoint}: success ${percent(success_rate)} (${interval}) on ${levels} levels, reward ${reward_mean?.toFixed(3)}`,
    ...(changes.length > 0 ? [`  unlike the run's own evaluation: ${changes.join(', ')}`] : []),
    `evaluation ${name}`,
  ].join('\n');
}
