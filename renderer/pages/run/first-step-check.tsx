import type { FirstStepItem } from '../../../core/contract/contract.ts';
import { checkValue, notOk, usualRange, verdictSummary } from '../../../core/contract/first-step-words.ts';
import { settingFacts } from '../../../core/facts/setting-facts.ts';
import { formatRoute } from '../../base/routes.ts';
import { Panel } from '../../components/basics.tsx';
import { Icon, type IconName } from '../../components/icon.tsx';
import { ScrollingRegion } from '../../components/scrolling-region.tsx';
import { useRun } from '../../views/run-view.tsx';
import styles from './first-step-check.module.css';

const icons: Record<string, IconName> = { ok: 'ok', suspicious: 'warning', wrong: 'critical' };

/** Lists the checks of the run's first update. It is open if one of them isn't ok. */
export function FirstStepCheck() {
  const check = useRun((state) => state.firstStepCheck);
  if (!check) return null;
  const open = notOk(check).length > 0;
  return (
    <Panel title="First-step check" note={`iteration ${check.iteration}: ${verdictSummary(check)}`} open={open}>
      <ScrollingRegion className={styles.region} aria-label="First-step check">
        <table className={`table ${styles.table}`}>
          <caption className="visually-hidden">Checks of the first update</caption>
          <thead>
            <tr>
              <th scope="col">Verdict</th>
              <th scope="col">Check</th>
              <th scope="col" className="numeric">
                Value
              </th>
              <th scope="col">Usual</th>
              <th scope="col">Meaning</th>
            </tr>
          </thead>
          <tbody>
            {check.checks.map((item) => (
              <tr key={item.name} data-verdict={item.verdict}>
                <td className={styles.verdict}>
                  <Icon name={icons[item.verdict] ?? 'quiet'} size={14} /> {item.verdict}
                </td>
                <th scope="row">{item.title}</th>
                <td className="numeric">{checkValue(item)}</td>
                <td>{usualRange(item)}</td>
                <td className={styles.meaning}>
                  {item.message} <SettingLink item={item} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollingRegion>
    </Panel>
  );
}

/** Links to the form for a new run with this run's settings. The tooltip is the help of the setting to change. */
function SettingLink({ item: { setting } }: { item: FirstStepItem }) {
  const runId = useRun((state) => state.runId);
  if (setting === '') return null;
  const { title, help } = settingFacts(setting);
  return (
    <a href={formatRoute({ page: 'new', from: { run: runId, checkpoint: null } })} title={help || setting}>
      Change “{title}”
    </a>
  );
}
