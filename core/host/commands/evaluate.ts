import { type Client, connectionLost } from '../../contract/client.ts';
import type { Evaluation } from '../../contract/contract.ts';
import { Failure } from '../../contract/failure.ts';
import { count, percent } from '../../contract/numbers.ts';
import { shortHash } from '../../contract/panel-words.ts';
import type { NewEvaluation } from '../../evaluations/evaluations.ts';
import { checkpointMissing } from '../../run-directory/checkpoints.ts';
import { asTask, cancelable, type TaskContext } from '../cancelable.ts';
import { print } from '../output.ts';
import { resolveRun } from '../run-reference.ts';
import { acrossHosts, withStudio } from './with-client.ts';

export interface EvaluateOptions extends Omit<NewEvaluation, 'checkpoint'> {
  /** Defaults to the newest checkpoint. */
  checkpoint?: number | undefined;
  home?: string | undefined;
  json: boolean;
}

/**
 * Evaluates a checkpoint, also while its run trains, and prints the result; with `json`, one line per progress update and the result last.
 * If the host exits, the next host starts the evaluation again.
 */
export async function evaluate(named: string, { home, json, ...options }: EvaluateOptions): Promise<void> {
  const request = { ...options };
  const began = Date.now();
  let hosts = 0;
  let evaluated = named;
  const play = async (client: Client, { signal }: TaskContext): Promise<Evaluation> => {
    hosts += 1;
    await client.call('trainer.require', {});
    const runId = await resolveRun(client, evaluated);
    evaluated = runId;
    const ended = watchEvaluations(client, runId, json);
    const checkpoint = request.checkpoint ?? (await newestCheckpoint(client, runId));
    const start = (taskId: string) => client.call('evaluations.start', { ...request, runId, checkpoint }, taskId);
    const { name } = await asTask(
      client,
      // Progress is printed as lines instead.
      { signal, progress: () => {} },
      start,
    ).catch(async (error) => {
      if (hosts === 1 || error.code !== 'evaluation_exists') throw error;
      // The trainer of the previous host completed the evaluation.
      const existing = await client.call('evaluations.get', { runId, name: request.name! });
      if (existing.time < began) throw error;
      ended.record(existing);
      return existing;
    });
    Object.assign(request, { checkpoint, name });
    const cancel = () => void client.call('evaluations.cancel', { runId, name }).catch(() => {});
    if (signal.aborted) cancel();
    signal.addEventListener('abort', cancel);
    return ended.result(name);
  };
  const { failure, ...evaluation } = await cancelable(`Evaluating ${named}`, (context) =>
    withStudio({ home, endpoint: { port: 0 } }, (studio) =>
      acrossHosts(studio, (client) => play(client, context), context.signal),
    ),
  );
  if (failure) throw new Failure(failure.code, failure.message, failure.hint);
  if (!json) print(describe(evaluation));
}

async function newestCheckpoint(client: Client, runId: string): Promise<number> {
  const [newest] = (await client.call('evaluations.choices', { runId })).checkpoints;
  if (newest !== undefined) return newest;
  throw checkpointMissing(runId, null, []);
}

/** Prints progress and records each result, since a result may arrive before the evaluation's name is known. */
function watchEvaluations(client: Client, runId: string, json: boolean) {
  const outcomes = new Map<string, Evaluation>();
  let check = () => {};
  const record = (evaluation: Evaluation) => {
    if (json) print(JSON.stringify(evaluation));
    else if (evaluation.state === 'running') process.stderr.write(`${progressLine(evaluation)}\n`);
    if (evaluation.state !== 'running') outcomes.set(evaluation.name, evaluation);
    check();
  };
  client.on('evaluation', ({ evaluation }) => record(evaluation), runId);
  return {
    record,
    /** Waits for a result. Throws `connection_lost` if the host exits first. */
    result: (name: string) =>
      new Promise<Evaluation>((resolve, reject) => {
        check = () => {
          const outcome = outcomes.get(name);
          if (outcome) resolve(outcome);
        };
        client.onClose(() => reject(connectionLost()));
        check();
      }),
  };
}

function progressLine({ done, levels, etaSeconds }: Evaluation): string {
  return `${done} of ${count(levels, 'episode')}${etaSeconds === null ? '' : `, ${Math.round(etaSeconds)} s left`}`;
}

function describe(evaluation: Omit<Evaluation, 'failure'>): string {
  const { name, label, checkpoint, levels, panel, changes, metrics, warnings } = evaluation;
  const { success_rate, success_rate_low, success_rate_high, reward_mean } = metrics ?? {};
  const interval = `95 % interval ${percent(success_rate_low)} to ${percent(success_rate_high)}`;
  const success =
    success_rate === undefined ? 'success not measured' : `success ${percent(success_rate)} (${interval})`;
  return [
    `${label} at checkpoint ${checkpoint}: ${success}, reward ${reward_mean?.toFixed(3) ?? 'not measured'}`,
    `  ${count(levels, 'level')}${panel === null ? '' : `, panel ${shortHash(panel)}`}`,
    ...(changes.length > 0 ? [`  differs from the run's evaluation settings: ${changes.join(', ')}`] : []),
    ...(warnings ?? []).map((text) => `  warning: ${text}`),
    `evaluation ${name}`,
  ].join('\n');
}
