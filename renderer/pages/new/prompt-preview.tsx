import { type ReactNode, useState } from 'react';
import type { Output, OwnCommand } from '../../../core/contract/contract.ts';
import { useApi } from '../../api/context.ts';
import { Button, ErrorNote } from '../../components/basics.tsx';
import { inOrder } from '../../components/in-order.ts';
import { useAction } from '../../components/use-action.ts';
import { environmentTitle } from '../../environments/registry.ts';
import { askInDialog } from '../../stores/consent-store.ts';
import type { PlacedField } from '../../stores/draft.ts';
import type { QueryResult } from '../../stores/use-query.ts';
import styles from './prompt-preview.module.css';

type Preview = Output<'configs.preview'>;

interface PromptPreviewProps {
  preview: QueryResult<Preview>;
  valid: boolean;
  /** Whether the configuration has problems; false until it is checked. */
  invalid: boolean;
  /** Editable prompt fields, by environment index. */
  fieldsOf: (environment: number) => PlacedField[];
  row: (field: PlacedField) => ReactNode;
}

const roleLabels: Record<string, string> = {
  system: 'System',
  user: 'Environment',
  assistant: 'Response begins with',
};

/** Shows the first prompts for a few levels, exactly as the model reads them, with their editable fields. */
export function PromptPreview({ preview, valid, invalid, fieldsOf, row }: PromptPreviewProps) {
  const [chosen, choose] = useState(0);
  const [level, chooseLevel] = useState(0);
  const shown = preview.value;
  const environment = shown?.environments[chosen] ?? shown?.environments[0];
  return (
    <section className={`panel ${styles.preview}`} aria-labelledby="prompts">
      <header className={`${styles.head} row wrap`}>
        <h2 id="prompts">Prompt preview</h2>
        {shown && shown.environments.length > 1 && (
          <Choice
            label="Environment"
            options={shown.environments.map(({ label }) => environmentTitle(label))}
            chosen={chosen}
            choose={choose}
          />
        )}
        {environment && environment.samples.length > 1 && (
          <Choice
            label="Level"
            options={environment.samples.map(({ seed }) => `Level ${seed}`)}
            chosen={level}
            choose={chooseLevel}
          />
        )}
      </header>
      <div className={styles.conversation} aria-busy={valid && !preview.fresh}>
        {!valid && !shown && (
          <p className="muted">
            {invalid ? 'Available once the problems under “Fix before starting” are solved.' : 'Loading…'}
          </p>
        )}
        {shown?.problem && <p className="muted">Available once the model can be loaded.</p>}
        {environment?.problem && (
          <ErrorNote error={environment.problem} kind="warning">
            {environment.problem.unconfirmed && (
              <ConfirmButton own={environment.problem.unconfirmed} onConfirmed={preview.refresh} />
            )}
          </ErrorNote>
        )}
        {shown && environment && <Sample preview={shown} environment={environment} level={level} />}
      </div>
      <div className={styles.fields}>{fieldsOf(chosen).map(row)}</div>
    </section>
  );
}

/** Asks about the command of an environment, which the preview runs. */
function ConfirmButton({ own, onConfirmed }: { own: OwnCommand; onConfirmed: () => void }) {
  const api = useApi();
  const [busy, perform] = useAction();
  const confirm = async () => {
    if (!(await askInDialog(own))) return;
    await api.call('commands.confirm', own);
    onConfirmed();
  };
  return (
    <Button disabled={busy} onClick={() => perform(confirm)}>
      Confirm the command…
    </Button>
  );
}

interface SampleProps {
  preview: Preview;
  environment: Preview['environments'][number];
  level: number;
}

function Sample({ preview: { replyTokens, context }, environment: { samples, problem }, level }: SampleProps) {
  const sample = samples[level] ?? samples[0];
  if (!sample)
    return problem ? null : (
      <p className="muted">No group plays this environment, because its share is 0 or rounds to 0 groups.</p>
    );
  return (
    <>
      <ol className={`${styles.messages} stack`}>
        {inOrder(sample.messages, ({ role, content }) => (
          <li data-role={role}>
            <span className="muted small">{roleLabels[role] ?? role}</span>
            <pre>{content}</pre>
          </li>
        ))}
      </ol>
      <p className="muted small">
        {sample.tokens} tokens. With a full response of {replyTokens} tokens: {sample.tokens + replyTokens} of {context}{' '}
        context tokens.
      </p>
    </>
  );
}

interface ChoiceProps {
  label: string;
  options: readonly string[];
  chosen: number;
  choose: (index: number) => void;
}

function Choice({ label, options, chosen, choose }: ChoiceProps) {
  return (
    <fieldset className="segments" aria-label={label}>
      {options.map((option, index) => (
        <button key={option} type="button" aria-pressed={index === chosen} onClick={() => choose(index)}>
          {option}
        </button>
      ))}
    </fieldset>
  );
}
