import type { ConfigForm } from '../../../core/contract/contract.ts';
import { IconButton } from '../../components/basics.tsx';
import { environmentTitle } from '../../environments/registry.ts';
import { environmentName } from '../../stores/draft.ts';
import styles from './environment-choice.module.css';
import { type EnvironmentConfig, withEnvironment, withoutEnvironment } from './environment-list.ts';

interface EnvironmentChoiceProps {
  form: ConfigForm;
  list: readonly EnvironmentConfig[];
  change: (list: EnvironmentConfig[]) => void;
}

/** Shows the environments to train on, each with its share of the groups. */
export function EnvironmentChoice({ form, list, change }: EnvironmentChoiceProps) {
  return (
    <section className={`panel ${styles.choice} row wrap`} aria-labelledby="trained-on">
      <h2 id="trained-on">Environments</h2>
      <ul className={`${styles.list} wrap`}>
        {list.map(({ label, type, share }, index) => (
          <li key={label}>
            <span>{environmentName(form, { label, type })}</span>
            {list.length > 1 && (
              <>
                <span className="muted">
                  {label !== type && label !== environmentName(form, { label, type }) && `${label}, `}
                  {Math.round(share * 100)} % of groups
                </span>
                <IconButton
                  icon="close"
                  label={`Remove ${environmentTitle(label)}`}
                  onClick={() => change(withoutEnvironment(list, index))}
                />
              </>
            )}
          </li>
        ))}
      </ul>
      <label className={styles.add}>
        <span className="visually-hidden">Add an environment</span>
        <select value="" onChange={({ target }) => change(withEnvironment(list, form.addable[Number(target.value)]!))}>
          <option value="" disabled>
            Add an environment…
          </option>
          {form.addable.map(({ title }, index) => (
            <option key={title} value={index}>
              {title}
            </option>
          ))}
        </select>
      </label>
    </section>
  );
}
