import type { ReactNode } from 'react';
import { type RunSummary, sampleRunId } from '../../../core/contract/contract.ts';
import { bytes } from '../../../core/contract/numbers.ts';
import { formatRoute } from '../../base/routes.ts';
import { dayAndClock } from '../../components/format.ts';
import { machineText } from '../../components/run-facts.ts';
import { useRun } from '../../views/run-view.tsx';
import { ConfigPanel } from './config-panel.tsx';
import styles from './configuration-tab.module.css';
import { MemoryPanel } from './memory-panel.tsx';

/** Shows the run's hardware and disk use, its memory plan and its configuration. */
export function ConfigurationTab({ run }: { run: RunSummary }) {
  return (
    <>
      <Facts run={run} />
      <MemoryPanel />
      <ConfigPanel />
      {run.id !== sampleRunId && (
        <p className="muted">
          <a href={formatRoute({ page: 'export', runId: run.id })}>Export this run</a> as CSV,{' '}
          {run.task === 'imported'
            ? 'JSON lines or TensorBoard events.'
            : 'Parquet, TensorBoard events, a Hugging Face folder or a paragraph for a paper.'}
        </p>
      )}
    </>
  );
}

function Facts({ run }: { run: RunSummary }) {
  const storage = useRun((state) => state.storage);
  const folder = useRun((state) => state.folder);
  const facts: [title: string, value: ReactNode][] = [
    ['Algorithm', run.algorithm],
    ['Created', dayAndClock(run.createdAt)],
    ...(run.startedAt === null ? [] : [['Started', dayAndClock(run.startedAt)] as [string, ReactNode]]),
    ...(run.machine
      ? ([
          ['Hardware', machineText(run)],
          ['Host', run.machine.host],
        ] as [string, ReactNode][])
      : []),
    ['Folder', <code key="folder">{folder}</code>],
  ];
  if (storage) {
    const { rollouts, checkpoints, journal, other, total, budget } = storage;
    const parts = Object.entries({ rollouts, checkpoints, journal, other }).filter(([, size]) => size > 0);
    facts.push([
      'Disk',
      <>
        {bytes(total)} {budget !== null && <span className="faint">of {bytes(budget)}</span>}{' '}
        <span className="faint">({parts.map(([name, size]) => `${name} ${bytes(size)}`).join(', ')})</span>
      </>,
    ]);
  }
  return (
    <dl className={`panel ${styles.facts}`}>
      {facts.map(([title, value]) => (
        <div key={title}>
          <dt>{title}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
