import type { Game, PlayChoices } from '../../../core/contract/contract.ts';
import { environmentTitle } from '../../environments/registry.ts';
import styles from './play-page.module.css';

interface SettingsProps {
  choices: PlayChoices;
  game: Game | null;
  loading: boolean;
  temperature: number;
  onTemperature: (temperature: number) => void;
  onCheckpoint: (iteration: number) => void;
  onEnvironment: (label: string) => void;
}

/** Environment, checkpoint and temperature. */
export function Settings(props: SettingsProps) {
  const { choices, game, loading, temperature, onTemperature, onCheckpoint, onEnvironment } = props;
  const { checkpoints, environments } = choices;
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
              {iteration === 0 ? 'untrained' : `iteration ${iteration}${index === 0 ? ', latest' : ''}`}
            </option>
          ))}
        </select>
      </label>
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
          onChange={(event) => onTemperature(Number(event.target.value))}
          title="Sampling temperature. 0 always picks the most likely token; higher is more random."
        />
      </label>
    </div>
  );
}
