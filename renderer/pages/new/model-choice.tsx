import type { FormField, SettingValue } from '../../../core/contract/contract.ts';
import type { NewFrom } from '../../base/router.ts';
import { modelSources } from '../../components/train-from.ts';
import { useApp } from '../../stores/app-store.ts';
import { useAnswer } from '../../stores/use-answer.ts';
import styles from './field-row.module.css';

/** What stands for a folder that is typed; no folder is called so. */
export const anotherFolder = '\u0000';

/** Runs whose newest checkpoint can be chosen; others are gone on with from their pages. */
const mostRuns = 20;

/** What is on this machine: first the model that the form begins with, last a folder that is typed. */
export function useModelChoices(base: string, from: NewFrom): FormField['choices'] {
  const list = useAnswer('models.list', {}, 0).value;
  const presets = useApp((state) => state.presets);
  const models = (list?.models ?? [])
    .filter(({ problem }) => problem === null)
    .map(({ name, folder, source }) =>
      source === 'starter'
        ? { value: base === 'starter' ? base : folder, title: 'Starter policy' }
        : { value: name === base ? base : folder, title: `${name}, ${modelSources[source]}` },
    );
  const checkpoints = (list?.checkpoints ?? []).slice(0, mostRuns).map(({ name, iterations, folder }) => ({
    value: folder,
    title: `${name}, iteration ${iterations[0]}`,
  }));
  const published = presets?.find(({ model }) => model?.name === base)?.model;
  const own = {
    value: base,
    title: published?.title ?? (base === 'starter' ? 'Starter policy' : ownTitle(base, from)),
  };
  const found = [...models, ...checkpoints];
  const all = found.some(({ value }) => value === base) ? found : [own, ...found];
  // A model that lies here twice is the one that its name means.
  const once = all.filter((model, place) => all.findIndex(({ value }) => value === model.value) === place);
  return [...once, { value: anotherFolder, title: 'Another folder…' }];
}

const ownTitle = (folder: string, from: NewFrom) =>
  'run' in from && from.checkpoint !== null
    ? `Checkpoint of iteration ${from.checkpoint}`
    : (folder.split(/[\\/]/).findLast(Boolean) ?? folder);

interface ModelPathProps {
  value: string;
  wrong: boolean;
  onChange: (folder: string) => void;
}

export function ModelPath({ value, wrong, onChange }: ModelPathProps) {
  return (
    <div className={styles.control}>
      <input
        aria-label="Path of the model folder"
        aria-invalid={wrong}
        placeholder="/path/to/a/model"
        autoComplete="off"
        spellCheck={false}
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
    </div>
  );
}

/** What a model's name means that is no folder. */
export function ModelNote({ value, base, from }: { value: SettingValue; base: SettingValue; from: NewFrom }) {
  const model = useApp(({ presets }) => presets?.find((preset) => preset.model?.name === value)?.model);
  if (value === base && 'run' in from)
    return (
      <p className={styles.note}>
        {from.checkpoint === null
          ? 'What that run began with.'
          : `Its checkpoint of iteration ${from.checkpoint}.`}
      </p>
    );
  if (value === 'starter')
    return (
      <p className={styles.note}>The starter policy of 1 million parameters, which comes with the app.</p>
    );
  if (!model) return null;
  return (
    <p className={styles.note}>
      {model.title} ({model.licence}), wherever it is found on this machine.
    </p>
  );
}
