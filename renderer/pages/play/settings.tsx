import type { Game, PlayChoices, Sampling } from '../../../core/contract/contract.ts';
import { truncationFields } from '../../components/sampling-fields.ts';
import { environmentTitle } from '../../environments/registry.ts';
import styles from './play-page.module.css';

interface SettingsProps {
  choices: PlayChoices;
  game: Game | null;
  loading: boolean;
  sampling: Sampling;
  onSampling: (change: Partial<Sampling>) => void;
  onCheckpoint: (iteration: number) => void;
  onEnvironment: (label: string) => void;
}

/** Environment, checkpoint and sampling. */
export function Settings(props: SettingsProps) {
  const { choices, game, loading, sampling, onSampling, onCheckpoint, onEnvironment } = props;
  const { checkpoints, environments } = choices;
  const { temperature } = sampling;
  return (
    <div className={`${styles.settings} wrap`}>
      {environments.length > 1 && (
        <label>
          Environment
          <select
            value={game?.environment ?? ''}
            disabled={loading}
            onChange={(event) => onEnvironment(event.target.value)}
          >
            {environments.map(({ label, type }) => (
              <option key={label} value={label}>
                {label === type ? environmentTitle(type) : `${environmentTitle(type)} (${label})`}
              </option>
            ))}
          </select>
        </label>
      )}
      <label>
        Checkpoint
        <select
          value={game?.checkpoint ?? checkpoints[0] ?? ''}
          disabled={loading || checkpoints.length === 0}
          onChange={(event) => onCheckpoint(Number(event.target.value))}
        >
          {checkpoints.map((iteration, index) => (
            <option key={iteration} value={iteration}>
              {iteration === 0 ? 'before training' : `iteration ${iteration}${index === 0 ? ', latest' : ''}`}
            </option>
          ))}
        </select>
      </label>
      <fieldset className={`${styles.settings} wrap`} aria-label="Sampling">
        <label>
          <span>
            Temperature <output>{temperature.toFixed(1)}</output>
          </span>
          <input
            type="range"
            min={0}
            max={2}
            step={0.1}
            value={temperature}
            onChange={(event) => onSampling({ temperature: Number(event.target.value) })}
            title="Sampling temperature. 0 always picks the most likely token; higher is more random."
          />
        </label>
        {truncationFields.map(({ key, label, title, input }) => (
          <label key={key} title={title}>
            {label}
            <input
              type="number"
              {...input}
              required
              disabled={temperature === 0}
              defaultValue={sampling[key]}
              onChange={({ target }) => target.validity.valid && onSampling({ [key]: target.valueAsNumber })}
              onBlur={({ target }) => {
                if (!target.validity.valid) target.value = `${sampling[key]}`;
              }}
            />
          </label>
        ))}
      </fieldset>
    </div>
  );
}
