import type { Evaluation } from '../../api/contract.ts';
import { Failure } from '../../api/failure.ts';
import type { NewEvaluation } from '../../evaluations/evaluations.ts';
import type { Core } from '../../index.ts';
import { listCheckpoints } from '../../run-directory/evaluations.ts';
import { percent, print } from '../output.ts';
import { nextSignal } from '../signals.ts';
import { withCore } from './with-core.ts';

export interface EvaluateOptions extends Omit<NewEvaluation, 'checkpoint'> {
  /** The newest where it isn't given. */
  checkpoint?: number | undefined;
  home?: string | undefined;
  json: boolean;
}

/** Evaluates a checkpoint of a run, trained or in training, and prints the result; with `json` a line whenever it has come further, the last being the result. Ctrl-C gives it up. */
export async function evaluate(runId: string, { home, json, ...wish }: EvaluateOptions): Promise<void> {
  await withCore(home, async (core) => {
    core.trainer.require();
    const checkpoint = wish.checkpoint ?? (await newestCheckpoint(core, runId));
    const signals = nextSignal();
    const ended = whenEnded(core, runId, json);
    try {
      const { name } = await core.evaluations.start(runId, { ...wish, checkpoint });
      signals.signal.then(() => core.evaluations.cancel(runId, name)).catch(() => {});
      const evaluation = await ended.of(name);
      if (evaluation.failure) {
        const { code, message, hint } = evaluation.failure;
        throw new Failure(code, message, hint);
      }
      if (!json) print(describe(evaluation));
    } finally {
      signals.close();
      ended.close();
    }
  });
}

async function newestCheckpoint({ runs }: Core, runId: string): Promise<number> {
  runs.get(runId);
  const [newest] = await listCheckpoints(runs.folder(runId));
  if (newest !== undefined) return newest;
  throw new Failure(
    'checkpoint_missing',
    `The run ${runId} has no checkpoint yet.`,
    'Its first is written after the evaluation at its start; start the run, or wait.',
  );
}

/** Prints progress, and keeps how each evaluation ended: that may be told before its name is known. */
function whenEnded(core: Core, runId: string, json: boolean) {
  const outcomes = new Map<string, Evaluation>();
  let look = () => {};
  const close = core.notices.on((name, payload) => {
    if (name !== 'evaluation') return;
    const { runId: id, evaluation } = payload as { runId: string; evaluation: Evaluation };
    if (id !== runId) return;
    if (json) print(JSON.stringify(evaluation));
    else if (evaluation.state === 'running') process.stderr.write(`${progressLine(evaluation)}\n`);
    if (evaluation.state !== 'running') outcomes.set(evaluation.name, evaluation);
    look();
  });
  return {
    close,
    of: (name: string) =>
      new Promise<Evaluation>((resolve) => {
        look = () => {
          const outcome = outcomes.get(name);
          if (outcome) resolve(outcome);
        };
        look();
      }),
  };
}

function progressLine({ done, levels, etaSeconds }: Evaluation): string {
  return `${done} of ${levels} episodes${etaSeconds === null ? '' : `, ${Math.round(etaSeconds)} s left`}`;
}

function describe({ name, label, checkpoint, levels, changes, metrics }: Evaluation): string {
  const { success_rate, success_rate_low, success_rate_high, reward_mean } = metrics ?? {};
  const interval = `95 % interval ${percent(success_rate_low)} to ${percent(success_rate_high)}`;
  return [
    `${label} at checkpoint ${checkpoint}: success ${percent(success_rate)} (${interval}) on ${levels} levels, reward ${reward_mean?.toFixed(3)}`,
    ...(changes.length > 0 ? [`  unlike the run's own evaluation: ${changes.join(', ')}`] : []),
    `evaluation ${name}`,
  ].join('\n');
}
