import { useState } from 'react';
import type { RunSummary } from '../../core/contract/contract.ts';
import { isLive } from '../../core/contract/run-facts.ts';
import { derivedName, rolledBackTo, shortValue } from '../../core/contract/run-names.ts';
import { settingFacts } from '../../core/facts/setting-facts.ts';
import { useApi } from '../api/context.ts';
import { navigate } from '../base/router.ts';
import { FormDialog } from '../components/form-dialog.tsx';
import { settingAt } from '../components/setting-at.ts';
import { useApp } from '../stores/app-store.ts';
import type { RollBackAdvice } from '../stores/dialogs-store.ts';
import { useQuery } from '../stores/use-query.ts';
import { Facts, NewRunName, nameProblem, useCheckpointList, useForkCost, useRunNames, Warnings } from './new-run.tsx';

interface RollBackProps {
  run: RunSummary;
  advice: RollBackAdvice;
  /** The alert that the roll-back answers. */
  alertId?: string | undefined;
  close: () => void;
}

/** Stops a run and continues training in a new run from a healthy checkpoint, with changed settings. */
export function RollBack({ run, advice, alertId, close }: RollBackProps) {
  const api = useApi();
  const report = useApp((state) => state.report);
  const runs = useApp((state) => state.runs);
  const names = useRunNames();
  const checkpoints = useCheckpointList(run.id);
  const config = useQuery('runs.get', { runId: run.id }, 0).value?.config;
  const [edited, setEdited] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const { notAfter, changes } = advice.action;
  const at = checkpoints?.find(({ iteration }) => iteration <= notAfter)?.iteration ?? null;
  const name = edited ?? derivedName(run.name, rolledBackTo(at ?? notAfter, changes), names);
  const problem = nameProblem(name, runs);
  const set = Object.fromEntries(changes.map(({ path, value }) => [path, value]));
  const { cost, warnings } = useForkCost({ run, checkpoint: at, keepOptimizer: false, set });

  async function rollBack(): Promise<void> {
    setBusy(true);
    try {
      const { fork, state, message } = await api.call('echoTrap.act', {
        runId: run.id,
        adviceId: advice.id,
        name: name.trim(),
        ...(alertId === undefined ? {} : { alertId }),
      });
      close();
      if (state === 'failed') useApp.getState().notify(message);
      else if (fork !== null) navigate({ page: 'run', runId: fork });
    } catch (cause) {
      report(cause);
      setBusy(false);
    }
  }

  return (
    <FormDialog
      title={advice.title}
      description={advice.why}
      submit={busy ? 'Rolling back…' : 'Roll back'}
      disabled={busy || at === null || problem !== null}
      onSubmit={() => void rollBack()}
      onClose={close}
    >
      <NewRunName name={name} problem={problem} change={setEdited} />
      <Facts
        facts={[
          [
            'This run',
            isLive(run.status)
              ? 'stops after a checkpoint; it and its files are kept'
              : "is kept; its files don't change",
          ],
          [
            'Keeps',
            at === null ? '…' : at === 0 ? 'nothing: training restarts from iteration 0' : `weights of iteration ${at}`,
          ],
          ['Loses', at === null ? '…' : lostText(at, run.iteration)],
          [
            'Changes',
            changes.length === 0 ? (
              'no settings'
            ) : (
              <ul key="changes" aria-label="Changed settings">
                {changes.map(({ path, value }) => {
                  const before = settingAt(config, path);
                  return (
                    <li key={path}>
                      {settingFacts(path).title} {before !== undefined && <s>{shortValue(before)}</s>} →{' '}
                      <strong>{shortValue(value)}</strong>
                    </li>
                  );
                })}
              </ul>
            ),
          ],
          ...cost,
        ]}
      />
      <Warnings warnings={warnings} />
    </FormDialog>
  );
}

function lostText(at: number, iteration: number): string {
  const lost = Math.max(0, iteration - at);
  if (lost === 0) return 'no iterations';
  return lost === 1 ? `1 iteration (${iteration})` : `${lost} iterations (${at + 1} to ${iteration})`;
}
