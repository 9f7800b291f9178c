import { useState } from 'react';
import type { OwnEnvironment } from '../../../core/contract/contract.ts';
import { count } from '../../../core/contract/numbers.ts';
import { formatRoute } from '../../base/routes.ts';
import { useTitle } from '../../base/title.ts';
import { Button, Empty, ErrorNote } from '../../components/basics.tsx';
import { TableHead } from '../../components/table-head.tsx';
import { builtInEnvironments } from '../../environments/registry.ts';
import { useApp } from '../../stores/app-store.ts';
import { AddEnvironment } from './add-environment.tsx';
import { failedChecks } from './checks-panel.tsx';
import styles from './environments.module.css';
import { useEnvironments } from './use-environments.ts';

/** Lists the environments that the user has added, and the built-in ones. */
export function EnvironmentsPage() {
  const { list, problem } = useEnvironments();
  const [adding, setAdding] = useState(false);
  useTitle('Environments');
  return (
    <div className="page" data-narrow>
      <header className="page-head">
        <div>
          <h1>Environments</h1>
          <p className="muted">Train on your own environment: any program that answers JSON lines, in any language.</p>
        </div>
        <Button writes icon="plus" kind="primary" onClick={() => setAdding(true)}>
          Add an environment
        </Button>
      </header>
      {problem && <ErrorNote error={problem} />}
      {list && (
        <section className="stack" aria-labelledby="own-environments">
          <h2 id="own-environments">Yours</h2>
          {list.length === 0 ? <NoEnvironments /> : <Own list={list} />}
        </section>
      )}
      <section className="stack" aria-labelledby="built-in-environments">
        <h2 id="built-in-environments">Built in</h2>
        <BuiltIn />
      </section>
      {adding && <AddEnvironment close={() => setAdding(false)} />}
    </div>
  );
}

const NoEnvironments = () => (
  <div className="panel">
    <Empty title="No environments of your own yet">
      <p>
        Start from an example in <code>examples/environments</code> of the source repository, such as 2048 in 60 lines
        of JavaScript, and add its command here. You can check it, play it by hand and watch a policy play it before you
        train.
      </p>
    </Empty>
  </div>
);

function Own({ list }: { list: readonly OwnEnvironment[] }) {
  return (
    <div className="panel table-panel">
      <table className="table" aria-labelledby="own-environments">
        <TableHead columns={['Environment', 'Command', 'Actions', 'Checks', 'Preset']} />
        <tbody>
          {list.map(({ id, name, command, directory, actions, confirmed, checks, preset }) => (
            <tr key={id}>
              <th scope="row" className={styles.name}>
                <a href={formatRoute({ page: 'environments', id })}>{name}</a>
              </th>
              <td className={styles.command}>
                <div>
                  <code className="ellipsis" title={`${command}\nin ${directory}`}>
                    {command}
                  </code>
                  {!confirmed && <span className="tag">not confirmed</span>}
                </div>
              </td>
              <td>{actions ? count(actions.length, 'name') : 'free text'}</td>
              <td>
                <ChecksTag checks={checks} />
              </td>
              <td>{preset ? 'on the Start page' : '–'}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function ChecksTag({ checks }: Pick<OwnEnvironment, 'checks'>) {
  if (!checks) return <span className="faint">not run</span>;
  const failed = failedChecks(checks.rows);
  return (
    <span className="tag" data-kind={failed > 0 ? 'bad' : 'good'}>
      {failed > 0 ? `${failed} failed` : 'passed'}
    </span>
  );
}

function BuiltIn() {
  const presets = useApp((state) => state.presets);
  return (
    <ul className={styles.cards}>
      {builtInEnvironments.map(({ type, title, tagline, Illustration }) => {
        const own = presets?.filter(({ environments }) => environments[0]?.type === type) ?? [];
        // Recommended presets have an alias.
        const preset = own.find(({ alias }) => alias !== null) ?? own[0];
        return (
          <li key={type} className={`panel row ${styles.card}`}>
            <span className={styles.picture} aria-hidden="true">
              {preset && <Illustration config={preset.environments[0]!.config} small={false} />}
            </span>
            <div>
              <h3>{title}</h3>
              <p className="muted small">{tagline}</p>
              {preset && (
                <a href={formatRoute({ page: 'new', from: { preset: preset.id } })} aria-label={`Train on ${title}`}>
                  Train
                </a>
              )}
            </div>
          </li>
        );
      })}
    </ul>
  );
}
