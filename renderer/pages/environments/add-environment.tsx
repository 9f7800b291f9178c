import { useState } from 'react';
import type { ApiError } from '../../../core/contract/contract.ts';
import { asFailure } from '../../../core/contract/failure.ts';
import { useApi } from '../../api/context.ts';
import { navigate } from '../../base/router.ts';
import { ErrorNote } from '../../components/basics.tsx';
import fields from '../../components/dialog-content.module.css';
import { FormDialog } from '../../components/form-dialog.tsx';
import { useConsent } from '../../stores/consent-store.ts';
import styles from './environments.module.css';

type Kind = 'command' | 'address';

/** Adds an environment. The server starts its command once, after the user has confirmed it. */
export function AddEnvironment({ close }: { close: () => void }) {
  const api = useApi();
  const asked = useConsent((state) => state.asked !== null);
  const [kind, setKind] = useState<Kind>('command');
  const [command, setCommand] = useState('');
  const [directory, setDirectory] = useState('');
  const [address, setAddress] = useState('');
  const [name, setName] = useState('');
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ApiError | null>(null);
  const complete = kind === 'command' ? command.trim() !== '' && directory.startsWith('/') : address.trim() !== '';

  const add = () => {
    setBusy(true);
    setProblem(null);
    const target =
      kind === 'command' ? { command: command.trim(), directory: directory.trim() } : { address: address.trim() };
    api
      .call('environments.add', { ...target, ...(name.trim() && { name: name.trim() }) })
      .then(({ id }) => {
        close();
        navigate({ page: 'environments', id });
      })
      .catch((cause) => setProblem(asFailure(cause).toApiError()))
      .finally(() => setBusy(false));
  };

  return (
    <FormDialog
      // Hidden while the user is asked about the command.
      open={!asked}
      title="Add an environment"
      submit={busy ? 'Starting it…' : 'Add'}
      disabled={busy || !complete}
      onSubmit={add}
      onClose={close}
    >
      <div className={styles.form}>
        <fieldset className="segments" aria-label="Kind of environment">
          {(['command', 'address'] as const).map((each) => (
            <button key={each} type="button" aria-pressed={kind === each} onClick={() => setKind(each)}>
              {each === 'command' ? 'Program' : 'OpenEnv server'}
            </button>
          ))}
        </fieldset>
        {kind === 'command' ? (
          <>
            <CodeField
              title="Command"
              example="python3 environment.py"
              maxLength={4096}
              help="A shell command. You confirm it before it runs."
              value={command}
              onChange={setCommand}
            />
            <CodeField
              title="Folder"
              example="/home/you/my-environment"
              maxLength={256}
              help="The folder in which the command runs. An absolute path."
              value={directory}
              onChange={setDirectory}
            />
          </>
        ) : (
          <CodeField
            title="Address"
            example="http://localhost:8000"
            maxLength={2048}
            help="Address of a running OpenEnv server. The app connects to it with its built-in client."
            value={address}
            onChange={setAddress}
          />
        )}
        <label className={fields.field}>
          Name
          <input
            value={name}
            placeholder="As the environment reports it"
            maxLength={40}
            onChange={({ target }) => setName(target.value)}
          />
        </label>
        {problem && <ErrorNote error={problem} />}
      </div>
    </FormDialog>
  );
}

interface CodeFieldProps {
  title: string;
  example: string;
  help: string;
  maxLength: number;
  value: string;
  onChange: (value: string) => void;
}

function CodeField({ title, example, help, maxLength, value, onChange }: CodeFieldProps) {
  return (
    <label className={fields.field}>
      {title}
      <input
        className={styles.code}
        value={value}
        placeholder={example}
        spellCheck={false}
        maxLength={maxLength}
        onChange={({ target }) => onChange(target.value)}
      />
      <small>{help}</small>
    </label>
  );
}
