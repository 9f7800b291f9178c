import { type ReactNode, useId } from 'react';
import type { Checkpoint, RunSummary, Settings } from '../../core/contract/contract.ts';
import { bytes } from '../../core/contract/numbers.ts';
import { maxNameLength } from '../../core/contract/run-names.ts';
import fieldStyles from '../components/dialog-content.module.css';
import { EstimatedTime } from '../components/estimated-time.tsx';
import { useApp } from '../stores/app-store.ts';
import { useQuery } from '../stores/use-query.ts';
import styles from './new-run.module.css';

/** Parts of the dialogs that create a run from a checkpoint: its name, and what it costs, keeps and changes. */

/** Returns why a name can't be used, or null. */
export const nameProblem = (name: string, runs: readonly RunSummary[] | null): string | null => {
  if (name.trim() === '') return 'Enter a name.';
  return runs?.some((run) => run.name === name.trim()) ? 'Another run has this name.' : null;
};

interface NameProps {
  name: string;
  problem: string | null;
  change: (name: string) => void;
}

/** Edits the name of the new run. */
export function NewRunName({ name, problem, change }: NameProps) {
  const id = useId();
  return (
    <label className={fieldStyles.field}>
      Name of the new run
      <input
        value={name}
        maxLength={maxNameLength}
        spellCheck={false}
        aria-invalid={problem !== null}
        aria-describedby={id}
        onFocus={({ target }) => target.select()}
        onChange={({ target }) => change(target.value)}
      />
      <small id={id} className={problem ? styles.wrong : undefined}>
        {problem ?? (name.length === maxNameLength ? `Up to ${maxNameLength} characters.` : '\u00a0')}
      </small>
    </label>
  );
}

/** Lists facts about the new run. */
export function Facts({ facts }: { facts: readonly (readonly [title: string, value: ReactNode])[] }) {
  return (
    <dl className={styles.facts}>
      {facts.map(([title, value]) => (
        <div key={title}>
          <dt>{title}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Returns the run's checkpoints, newest first; null until loaded. */
export function useCheckpointList(runId: string): readonly Checkpoint[] | null {
  return useQuery('checkpoints.list', { runId }, 0).value ?? null;
}

/** Describes what a fork of a checkpoint keeps; `…` until the checkpoint is loaded. */
export function keptOf(checkpoint: Checkpoint | null): string {
  if (!checkpoint) return '…';
  return `weights of iteration ${checkpoint.iteration}${checkpoint.optimizer ? ', optimizer state and any critic' : '; the optimizer and any critic are new'}`;
}

export const Warnings = ({ warnings }: { warnings: readonly string[] }) =>
  warnings.map((warning) => (
    <p key={warning} className={styles.warning} role="status">
      {warning}
    </p>
  ));

interface ForkRequest {
  run: RunSummary;
  /** Null until loaded. */
  checkpoint: number | null;
  keepOptimizer: boolean;
  set: Settings;
}

/** Returns the estimated time and disk use of a fork as facts, and the warnings about its settings. */
export function useForkCost({ run, checkpoint, keepOptimizer, set }: ForkRequest): {
  cost: (readonly [string, ReactNode])[];
  warnings: readonly string[];
} {
  const check = useQuery(
    'configs.check',
    checkpoint === null ? null : { run: run.id, checkpoint, keepOptimizer, set, titles: true },
    200,
  ).value;
  const storage = useQuery('runs.storage', { runId: run.id }, 0).value;
  const iterations = typeof set.iterations === 'number' ? set.iterations : run.iterations;
  const share = checkpoint === null || run.iteration === 0 ? null : (iterations - checkpoint) / run.iteration;
  return {
    cost: [
      ['Time', check ? <EstimatedTime key="time" time={check.time} /> : '…'],
      [
        'Disk',
        storage && share !== null
          ? `about ${bytes(storage.total * Math.max(share, 0))}, ${bytes(storage.free)} free`
          : '…',
      ],
    ],
    warnings: check?.warnings ?? [],
  };
}

/** Names of all runs, to make a new name unique. */
export const useRunNames = (): string[] => (useApp((state) => state.runs) ?? []).map(({ name }) => name);
