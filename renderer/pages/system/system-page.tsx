import { useState } from 'react';
import type { Finding, Machine } from '../../../core/contract/contract.ts';
import { count } from '../../../core/contract/numbers.ts';
import { useApi } from '../../api/context.ts';
import { saveExport } from '../../api/files.ts';
import { useTitle } from '../../base/title.ts';
import { Button, Empty, ErrorNote } from '../../components/basics.tsx';
import { Icon } from '../../components/icon.tsx';
import { inOrder } from '../../components/in-order.ts';
import { Facts, Section } from '../../components/section.tsx';
import { useApp } from '../../stores/app-store.ts';
import { DeviceList } from './device-list.tsx';
import styles from './system-page.module.css';
import { useMachine } from './use-machine.ts';

/** Shows devices, checks, versions and a way to report a problem. */
export function SystemPage() {
  const [check, setCheck] = useState(0);
  const { machine, samples, interval, findings, problem } = useMachine(check);
  useTitle('System');
  return (
    <div className="page" data-narrow>
      <header className="page-head">
        <div>
          <h1>System</h1>
          <p className="muted">Devices and their runs, system checks, and versions.</p>
        </div>
      </header>
      {problem && <ErrorNote error={problem} />}
      {machine ? (
        <DeviceList machine={machine} samples={samples} interval={interval} />
      ) : (
        <Empty title="Reading hardware information…" />
      )}
      <Section
        title="Checks"
        action={
          <Button kind="quiet" icon="reset" onClick={() => setCheck(check + 1)}>
            Check again
          </Button>
        }
      >
        <Findings findings={findings} />
      </Section>
      <About machine={machine} />
      <Diagnostics />
    </div>
  );
}

const findingNames: Record<string, string> = {
  trainer: 'Trainer',
  devices: 'Devices',
  'starter policy': 'Starter policy',
  'data folder': 'Data folder',
  'free space': 'Free space',
};

function Findings({ findings }: { findings: Finding[] | null }) {
  if (!findings) return <p className="faint">Checking…</p>;
  const failed = findings.filter(({ fine }) => !fine).length;
  return (
    <>
      <p className={styles.verdict} role="status">
        {failed === 0
          ? 'Ready to train.'
          : `${failed} of ${findings.length} ${failed === 1 ? 'needs' : 'need'} attention.`}
      </p>
      <ul className={styles.findings}>
        {inOrder(findings, ({ name, fine, absent, detail, advice }) => (
          <li data-fine={fine} data-absent={absent}>
            <Icon name={absent ? 'quiet' : fine ? 'ok' : 'warning'} />
            <span className="visually-hidden">{absent ? 'Not present:' : fine ? 'OK:' : 'Needs attention:'}</span>
            <strong>{findingNames[name] ?? name}</strong>
            <div>
              <p>{capitalized(detail)}</p>
              {advice && <p className="muted">{capitalized(advice)}</p>}
            </div>
          </li>
        ))}
      </ul>
    </>
  );
}

/** Capitalizes the trainer's message, except for names, numbers and paths. */
const capitalized = (text: string) => text.replace(/^[a-z](?=[a-z]*:? )/, (letter) => letter.toUpperCase());

function About({ machine }: { machine: Machine | null }) {
  const system = useApp((state) => state.system);
  const rows = [
    ['Version', system?.version],
    ['Trainer', system && `${system.trainer.path}${system.trainer.build ? ` (${system.trainer.build})` : ''}`],
    ['CPU', machine && `${machine.processor}, ${count(machine.cores, 'core')}`],
    ['Operating system', machine?.system],
    ['CUDA in the trainer', system?.cuda?.runtimeVersion ?? (system ? 'not built in' : null)],
    ['Node', machine?.node],
  ] as const;
  return (
    <Section title="About">
      <Facts rows={rows} />
    </Section>
  );
}

function Diagnostics() {
  const api = useApi();
  const report = useApp((state) => state.report);
  const [busy, setBusy] = useState(false);
  const [message, setMessage] = useState('');
  async function create(): Promise<void> {
    setBusy(true);
    setMessage('');
    try {
      const files = await api.call('machine.diagnostics', {});
      setMessage((await saveExport(api, files)) ?? 'Not saved');
    } catch (cause) {
      report(cause);
    } finally {
      setBusy(false);
    }
  }
  return (
    <Section title="Report a problem">
      <p className="muted">
        A diagnostics file contains versions, these checks, the state of your runs and the last lines of their logs. It
        excludes tokens, weights, episodes and notes. Your user name and home folder are redacted.
      </p>
      <div className={`${styles.actions} row wrap`}>
        <Button icon="export" onClick={() => void create()} disabled={busy}>
          {busy ? 'Creating…' : 'Create diagnostics file'}
        </Button>
        <span className="faint" role="status">
          {message}
        </span>
      </div>
    </Section>
  );
}
