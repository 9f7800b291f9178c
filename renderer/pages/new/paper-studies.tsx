import { useState } from 'react';
import type { PaperStudyFacts } from '../../../core/contract/contract.ts';
import { createSweeps } from '../../../core/contract/create-sweeps.ts';
import { asFailure } from '../../../core/contract/failure.ts';
import { count } from '../../../core/contract/numbers.ts';
import { useApi } from '../../api/context.ts';
import { navigate } from '../../base/router.ts';
import { Button, ErrorNote, Panel } from '../../components/basics.tsx';
import { useQuery } from '../../stores/use-query.ts';
import styles from './paper-studies.module.css';

/** Shows the studies of the RAGEN paper and creates their sweeps. */
export function PaperStudies() {
  const [model, setModel] = useState('starter');
  const [chosen, setChosen] = useState('figure-5');
  const { value, error } = useQuery('studies.papers', { model }, 0);
  const study = value?.studies.find(({ id }) => id === chosen);
  return (
    <Panel title="Studies of the RAGEN paper" note="figures 5 and 7 to 11, tables 1 to 4">
      {error && <ErrorNote error={error} />}
      {value && study && (
        <div className={styles.papers}>
          <div className={`${styles.choices} row wrap`}>
            <label>
              <span>Study</span>
              <select value={chosen} onChange={({ target }) => setChosen(target.value)}>
                {value.studies.map(({ id, title }) => (
                  <option key={id} value={id}>
                    {title}
                  </option>
                ))}
              </select>
            </label>
            <label>
              <span>Model</span>
              <select value={model} onChange={({ target }) => setModel(target.value)}>
                {value.models.map((each) => (
                  <option key={each}>{each}</option>
                ))}
              </select>
            </label>
          </div>
          <StudyFacts study={study} />
          <CreateSweeps key={`${model} ${study.id}`} study={study} />
        </div>
      )}
    </Panel>
  );
}

function StudyFacts({ study: { question, constant, missing, numbers } }: { study: PaperStudyFacts }) {
  return (
    <>
      <dl className={styles.facts}>
        <dt>Question</dt>
        <dd>{question}</dd>
        <dt>Held constant</dt>
        <dd>{constant}</dd>
        {missing.length > 0 && (
          <>
            <dt>Not included</dt>
            <dd>{missing.join(' ')}</dd>
          </>
        )}
      </dl>
      {numbers.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
        <section className={styles.numbers} aria-label="Numbers in the paper" tabIndex={0}>
          <table className="table">
            <thead>
              <tr>
                <th scope="col">Sweep</th>
                <th scope="col">Setting</th>
                <th scope="col">Quantity</th>
                <th scope="col">In the paper</th>
              </tr>
            </thead>
            <tbody>
              {numbers.flatMap(({ sweep, point, values }) =>
                values.map(({ quantity, value }) => (
                  <tr key={`${sweep} ${point} ${quantity}`}>
                    <td>{sweep.replace('RAGEN: ', '')}</td>
                    <td>{point}</td>
                    <td>{quantity}</td>
                    <td>{value}</td>
                  </tr>
                )),
              )}
            </tbody>
          </table>
        </section>
      )}
    </>
  );
}

/** Creates the sweeps of a study that do not exist yet, then opens the sweep or the list. */
function CreateSweeps({ study: { sweeps } }: { study: PaperStudyFacts }) {
  const api = useApi();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const runs = sweeps.reduce((sum, { points, seeds }) => sum + points.length * seeds.length, 0);

  async function create(start: boolean): Promise<void> {
    setBusy(true);
    setProblem(null);
    try {
      const ids: string[] = [];
      for await (const id of createSweeps(api, sweeps, start)) ids.push(id);
      navigate(ids.length === 1 ? { page: 'study', studyId: ids[0]! } : { page: 'studies' });
    } catch (cause) {
      setProblem(asFailure(cause).message);
    } finally {
      setBusy(false);
    }
  }
  return (
    <>
      <footer className="row wrap">
        <p>
          <strong>
            {count(sweeps.length, 'sweep')}, {count(runs, 'run')}
          </strong>
          . Existing sweeps are not created again.
        </p>
        <span className="spacer" />
        <div className="row">
          <Button writes disabled={busy} onClick={() => void create(false)}>
            Create study
          </Button>
          <Button writes icon="play" disabled={busy} onClick={() => void create(true)}>
            Create and start study
          </Button>
        </div>
      </footer>
      {problem && (
        <p className={styles.wrong} role="alert">
          {problem}
        </p>
      )}
    </>
  );
}
