import { Combobox } from '@base-ui/react/combobox';
import { useState } from 'react';
import { type RunSummary, sampleRunId } from '../../core/contract/contract.ts';
import { navigate } from '../base/router.ts';
import { useApp } from '../stores/app-store.ts';
import { useSample } from '../stores/use-sample.ts';
import { StatusDot } from './basics.tsx';
import styles from './compare-with.module.css';
import { ago } from './format.ts';
import { Icon } from './icon.tsx';

/** Opens a comparison of this run with another run. */
export const CompareWith = ({ runId }: { runId: string }) => (
  <RunChoice
    label="Compare with…"
    without={[runId]}
    onChoose={(other) => navigate({ page: 'compare', runIds: [runId, other] })}
  />
);

interface ChoiceProps {
  label: string;
  /** Runs to leave out. */
  without: readonly string[];
  onChoose: (runId: string) => void;
}

/** Shows a button that opens a searchable list of runs, newest first, then the sample. */
export function RunChoice({ label, without, onChoose }: ChoiceProps) {
  const runs = useApp((state) => state.runs);
  const [wasOpened, setWasOpened] = useState(false);
  // Loads the sample when the list opens.
  const sample = useSample(wasOpened);
  const offered = [...(runs ?? []), ...(sample ? [sample.summary] : [])].filter(
    ({ id, iteration }) => !without.includes(id) && iteration > 0,
  );
  const none = offered.length === 0 && without.includes(sampleRunId);
  const now = Date.now();
  return (
    <Combobox.Root
      items={offered}
      value={null}
      onOpenChange={(open) => open && setWasOpened(true)}
      onValueChange={(run: RunSummary | null) => run && onChoose(run.id)}
      itemToStringLabel={({ name, preset, marks }: RunSummary) => [name, preset, ...marks.tags].join(' ')}
      limit={60}
    >
      <Combobox.Trigger className="button" aria-label={label} disabled={none}>
        <Icon name="compare" size={14} />
        {label}
      </Combobox.Trigger>
      <Combobox.Portal>
        <Combobox.Positioner className={styles.positioner} sideOffset={6} align="end">
          <Combobox.Popup className={`${styles.popup} column`} aria-label="Runs">
            <Combobox.Input
              className={styles.input}
              placeholder="Search runs"
              aria-label="Search runs by name, preset or tag"
            />
            <Combobox.Empty>
              <p className={styles.empty}>No matching runs</p>
            </Combobox.Empty>
            <Combobox.List className={styles.list}>
              {(run: RunSummary) => (
                <Combobox.Item key={run.id} value={run} className={`${styles.item} stack`}>
                  <StatusDot run={run} />
                  <span className="ellipsis">{run.name}</span>
                  <span className={styles.made}>{ago(run.createdAt, now)}</span>
                </Combobox.Item>
              )}
            </Combobox.List>
          </Combobox.Popup>
        </Combobox.Positioner>
      </Combobox.Portal>
    </Combobox.Root>
  );
}
