import { useState } from 'react';
import type { OwnEnvironment } from '../../../core/contract/contract.ts';
import { count } from '../../../core/contract/numbers.ts';
import { useApi } from '../../api/context.ts';
import { navigate } from '../../base/router.ts';
import { formatRoute } from '../../base/routes.ts';
import { useTitle } from '../../base/title.ts';
import { Button, Empty, ErrorNote } from '../../components/basics.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Icon } from '../../components/icon.tsx';
import { useAction } from '../../components/use-action.ts';
import { ChecksPanel } from './checks-panel.tsx';
import styles from './environments.module.css';
import { HandPlayPanel } from './hand-play-panel.tsx';
import { PresetPanel } from './preset-panel.tsx';
import { useEnvironments } from './use-environments.ts';
import { WatchPanel } from './watch-panel.tsx';

/** Checks an environment, plays it by hand and by a policy, and makes a preset of it. */
export function EnvironmentPage({ id }: { id: string }) {
  const { list, problem } = useEnvironments();
  const environment = list?.find((each) => each.id === id);
  useTitle(environment?.name ?? 'Environment');
  return (
    <div className="page" data-narrow>
      <a className="back-link" href={formatRoute({ page: 'environments' })}>
        <Icon name="back" size={14} />
        Environments
      </a>
      {problem && <ErrorNote error={problem} />}
      {list && !environment && <Empty title="Environment not found">Choose another environment from the list.</Empty>}
      {environment && <Details environment={environment} />}
    </div>
  );
}

function Details({ environment }: { environment: OwnEnvironment }) {
  const { name, command, directory, confirmed, actions } = environment;
  const [removing, setRemoving] = useState(false);
  return (
    <>
      <header className="page-head">
        <div className={styles.title}>
          <h1>{name}</h1>
          <p className="muted">
            <code>{command}</code> in <code>{directory}</code>
          </p>
        </div>
        <div className="row">
          <span className="tag" data-kind={confirmed ? undefined : 'slip'}>
            {confirmed ? 'command confirmed' : 'command not confirmed'}
          </span>
          <span className="tag">{actions ? count(actions.length, 'action') : 'free text'}</span>
          <Button writes icon="trash" onClick={() => setRemoving(true)}>
            Remove…
          </Button>
        </div>
      </header>
      <div className={styles.columns}>
        <HandPlayPanel environment={environment} />
        <div className={styles.side}>
          <ChecksPanel environment={environment} />
          <PresetPanel environment={environment} />
        </div>
      </div>
      <WatchPanel environment={environment} />
      {removing && <Remove environment={environment} close={() => setRemoving(false)} />}
    </>
  );
}

function Remove({ environment: { id, name }, close }: { environment: OwnEnvironment; close: () => void }) {
  const api = useApi();
  const [busy, perform] = useAction();
  const remove = async () => {
    await api.call('environments.remove', { id });
    navigate({ page: 'environments' });
  };
  return (
    <Dialog
      title={`Remove ${name}?`}
      description="It disappears from this list and from the Start page, with its check results. Your program and existing runs stay."
      onClose={close}
      actions={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button kind="danger" disabled={busy} onClick={() => perform(remove)}>
            Remove
          </Button>
        </>
      }
    />
  );
}
