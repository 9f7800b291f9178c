import { useId } from 'react';
import { usualPreset } from '../../../core/contract/contract.ts';
import { navigate } from '../../base/router.ts';
import type { NewFrom } from '../../base/routes.ts';
import { groupByTask } from '../../components/preset-groups.ts';
import { useApp } from '../../stores/app-store.ts';
import { useQuery } from '../../stores/use-query.ts';
import styles from './origin.module.css';

interface OriginProps {
  from: NewFrom;
  imported: boolean;
  title: string;
  study: boolean;
  optimizerKept: boolean | null;
  keepOptimizer: boolean;
  setKeepOptimizer: (keep: boolean) => void;
}

/** Shows and changes the base configuration: a preset, a run or a checkpoint. */
export function Origin(props: OriginProps) {
  const { from, imported, title } = props;
  if (imported) return <p className={styles.origin}>Based on {title}</p>;
  return 'preset' in from ? (
    <PresetChoice {...props} />
  ) : (
    <RunChoice {...props} run={from.run} checkpoint={from.checkpoint} />
  );
}

function PresetChoice({ from, study }: OriginProps) {
  const presets = useApp((state) => state.presets) ?? [];
  const id = useId();
  const presetId = ('preset' in from && from.preset) || usualPreset;
  const chosen = presets.find((preset) => preset.id === presetId || preset.alias === presetId);
  return (
    <div className={styles.origin}>
      <label htmlFor={id}>Preset</label>
      <select
        id={id}
        value={chosen?.id ?? ''}
        onChange={({ target }) =>
          navigate({ page: 'new', from: { preset: target.value }, ...(study && { study: true }) })
        }
      >
        {groupByTask(presets).map((tasks) => (
          <optgroup
            key={tasks[0].family}
            label={tasks[0].model ? `${tasks[0].title}, ${tasks[0].model.title}` : tasks[0].title}
          >
            {tasks.map((preset) => (
              <option key={preset.id} value={preset.id}>
                {preset.title}
                {preset.model ? `, ${preset.model.title}` : ''}, {preset.algorithm}
              </option>
            ))}
          </optgroup>
        ))}
      </select>
    </div>
  );
}

function RunChoice({
  run,
  checkpoint,
  study,
  title,
  optimizerKept,
  keepOptimizer,
  setKeepOptimizer,
}: OriginProps & { run: string; checkpoint: number | null }) {
  const id = useId();
  const name = useApp(({ runs }) => runs?.find((each) => each.id === run)?.name) ?? title;
  const choices = useQuery('evaluations.choices', { runId: run }, 0);
  const checkpoints = choices.value?.checkpoints ?? [];
  const listed = checkpoint === null || checkpoints.includes(checkpoint) ? checkpoints : [...checkpoints, checkpoint];
  const choose = (value: string) =>
    navigate({
      page: 'new',
      from: { run, checkpoint: value === '' ? null : Number(value) },
      ...(study && { study: true }),
    });
  return (
    <div className={styles.origin}>
      <span>Based on {name}:</span>
      <label htmlFor={id} className="visually-hidden">
        Start from
      </label>
      <select id={id} value={checkpoint ?? ''} onChange={({ target }) => choose(target.value)}>
        <option value="">configuration only</option>
        {listed.map((iteration) => (
          <option key={iteration} value={iteration}>
            fork from checkpoint {iteration}
          </option>
        ))}
      </select>
      {checkpoint !== null && (
        <label className={`${styles.keep} row`}>
          <input
            type="checkbox"
            checked={keepOptimizer}
            disabled={!optimizerKept}
            onChange={({ target }) => setKeepOptimizer(target.checked)}
          />
          Keep optimizer state and any critic
          {!optimizerKept && <span className="faint">(not in this checkpoint)</span>}
        </label>
      )}
    </div>
  );
}
