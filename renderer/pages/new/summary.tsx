import type { ReactNode } from 'react';
import type { Output } from '../../../core/contract/contract.ts';
import { listWithAnd } from '../../../core/contract/sentence.ts';
import { Button, ErrorNote, IconButton } from '../../components/basics.tsx';
import { EstimatedTime } from '../../components/estimated-time.tsx';
import { gigabytes, wholeGigabytes } from '../../components/format.ts';
import { Icon } from '../../components/icon.tsx';
import { isDeviceInUse } from '../../components/run-facts.ts';
import { RunOn } from '../../components/run-on.tsx';
import type { RunRequest, StartRun } from '../../components/start-run.tsx';
import { buildingText } from '../../components/trainer-notice.tsx';
import { environmentTitle } from '../../environments/registry.ts';
import { useApp } from '../../stores/app-store.ts';
import { type PlacedField, valueText } from '../../stores/draft.ts';
import type { QueryResult } from '../../stores/use-query.ts';
import { useWriteLock } from '../../stores/write-access.ts';
import styles from './summary.module.css';
import type { ConfigEdits } from './use-config-edits.ts';

interface SummaryProps {
  check: QueryResult<Output<'configs.check'>>;
  preview: QueryResult<Output<'configs.preview'>>;
  fields: readonly PlacedField[];
  config: ConfigEdits;
  run: StartRun;
  request: RunRequest;
  /** Whether starting is disabled. */
  blocked: boolean;
  start: () => void;
  /** The cluster on which the run is to train; null for this machine. */
  target: string | null;
  setTarget: (target: string | null) => void;
}

/** Shows the column beside the form: start buttons, estimates, problems and changes. */
export function Summary(props: SummaryProps) {
  const lock = useWriteLock();
  const { check, preview, config, run, request, blocked, start, target, setTarget } = props;
  /** True if the form creates a sweep, which starts its own runs. */
  const study = config.variation !== null;
  const deviceInUse = useApp(({ runs, system }) => isDeviceInUse(runs, request.device, system));
  const trainer = useApp(({ system }) => system?.trainer);
  const problems = check.value?.problems ?? [];
  return (
    <aside className={styles.summary} aria-label="Start">
      <section className={`panel ${styles.box}`}>
        {!study && (
          <div className={`${styles.start} stack`}>
            <button
              type="button"
              className="button"
              data-kind="primary"
              disabled={blocked}
              aria-keyshortcuts="Control+Enter Meta+Enter"
              onClick={start}
              {...lock}
            >
              <Icon name="play" size={16} />
              {run.busy?.how === 'start'
                ? 'Starting…'
                : (buildingText(trainer) ?? (target === null ? 'Start' : 'Submit…'))}
            </button>
            <Button writes icon="queue" disabled={blocked || target !== null} onClick={() => run.queue(request)}>
              Add to queue
            </Button>
          </div>
        )}
        {!study && <RunOn target={target} onChange={setTarget} />}
        <dl className={`${styles.facts} stack`}>
          <Fact title={study ? 'Each run' : 'Time'}>
            {check.value && problems.length === 0 ? (
              <EstimatedTime time={check.value.time} />
            ) : (
              <span className="faint">…</span>
            )}
          </Fact>
          <Fact title="Memory">
            <Memory preview={preview} />
          </Fact>
        </dl>
        {deviceInUse && !study && target === null && (
          <p className="muted">This device has running or queued runs. You'll be asked whether to queue.</p>
        )}
        {!study && (
          <Button kind="quiet" icon="vary" onClick={() => config.setVariation({})}>
            Turn into a sweep
          </Button>
        )}
      </section>
      <Problems {...props} />
      <Changes {...props} />
    </aside>
  );
}

function Fact({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div>
      <dt>{title}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Memory({ preview: { value, error } }: { preview: QueryResult<Output<'configs.preview'>> }) {
  if (value?.memoryProblem)
    return (
      <span className={styles.wrong}>
        {value.memoryProblem.message} {value.memoryProblem.hint}
      </span>
    );
  const memory = value?.memory;
  if (!memory) return <span className="faint">{error || value ? 'not available yet' : '…'}</span>;
  const { bytes, available, device } = memory;
  const location = device === 'cpu' ? 'free on this machine' : `on ${device}`;
  const needed = device === 'cpu' ? gigabytes(bytes) : `about ${wholeGigabytes(bytes)}`;
  const exceeds = available !== null && bytes > available;
  return (
    <>
      <span className={exceeds ? styles.wrong : undefined}>
        {needed}
        {available !== null && (
          <span className="faint">
            {' '}
            of {gigabytes(available)} {location}
          </span>
        )}
      </span>
      {available !== null && (
        <meter
          className={styles.meter}
          min={0}
          max={available}
          high={available * 0.9}
          value={Math.min(bytes, available)}
          aria-label={`Memory: ${needed} of ${gigabytes(available)}`}
        />
      )}
    </>
  );
}

/** Errors, then warnings. */
function Problems({ check, preview }: SummaryProps) {
  const { problems = [], warnings = [] } = check.value ?? {};
  const invalid = problems.filter(({ machine }) => !machine);
  // The prompt preview reports a missing model too.
  const other = check.error ?? preview.error ?? problems.find(({ machine }) => machine) ?? preview.value?.problem;
  if (invalid.length + warnings.length === 0 && !other) return null;
  return (
    <section className={`panel ${styles.box}`} aria-labelledby="problems">
      <h2 id="problems">{problems.length > 0 || other ? 'Fix before starting' : 'Warnings'}</h2>
      <div role="status">
        <ul className={styles.list}>
          {invalid.map(({ path, message, hint }) => (
            <li key={`${path} ${message}`} className={styles.wrong}>
              {message}
              {/^Did you mean/.test(hint) && <span className="muted"> {hint}</span>}
            </li>
          ))}
          {warnings.map((warning) => (
            <li key={warning}>{warning}</li>
          ))}
        </ul>
      </div>
      {other && <ErrorNote error={other} kind={check.error ? 'error' : 'warning'} />}
    </section>
  );
}

function Changes({ fields, config }: SummaryProps) {
  const { values, edits, environments } = config;
  const changed = Object.entries(edits);
  const count = changed.length + (environments ? 1 : 0);
  return (
    <section className={`panel ${styles.box}`} aria-labelledby="changes">
      <div className={`${styles.head} row`}>
        <h2 id="changes">{count === 0 ? 'No changes' : `${count} changed`}</h2>
        {count > 1 && (
          <Button kind="quiet" onClick={config.resetAll}>
            Reset all
          </Button>
        )}
      </div>
      {count > 0 && (
        <ul className={styles.changes}>
          {environments && (
            <li>
              <span>
                Environments
                <span className={`${styles.change} muted small`}>
                  <ins>{listWithAnd(environments.map(({ label }) => environmentTitle(label)))}</ins>
                </span>
              </span>
              <IconButton icon="reset" label="Reset Environments" onClick={config.resetEnvironments} />
            </li>
          )}
          {changed.map(([path, value]) => {
            const field = fields.find(({ at }) => at === path);
            const title = field?.title ?? path;
            const long = field?.type === 'text';
            return (
              <li key={path}>
                <span>
                  {title}
                  {!long && field && (
                    <span className={`${styles.change} muted small`}>
                      <del>{valueText(values.get(path), field)}</del> → <ins>{valueText(value, field)}</ins>
                    </span>
                  )}
                </span>
                <IconButton icon="reset" label={`Reset ${title}`} onClick={() => config.reset(path)} />
              </li>
            );
          })}
        </ul>
      )}
    </section>
  );
}
