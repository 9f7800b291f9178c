import type { ReactNode } from 'react';
import type { Band } from '../../charts/group-series.ts';
import type { GroupingChoice } from '../../run-table/differences.ts';
import { FilterField } from '../../run-table/filter-field.tsx';
import { SettingSelect } from '../../run-table/setting-select.tsx';
import styles from './compare-page.module.css';

/** The rows of the table: all runs, or those ticked since the page was opened. */
export type Scope = 'compared' | 'all';

interface CompareToolbarProps {
  text: string;
  setText: (text: string) => void;
  problem: string | null;
  scope: Scope;
  setScope: (scope: Scope) => void;
  /** Number of runs in the scope `compared`. */
  compared: number;
  groupings: readonly GroupingChoice[];
  group: string;
  onGroup: (id: string) => void;
  color: string;
  onColor: (id: string) => void;
  band: Band;
  setBand: (band: Band) => void;
  /** Controls at the end. */
  children: ReactNode;
}

export function CompareToolbar(props: CompareToolbarProps) {
  const { text, setText, problem, scope, setScope, compared, groupings, group, color, band, setBand } = props;
  return (
    <search className={`${styles.toolbar} row wrap`}>
      <FilterField value={text} problem={problem} onChange={setText} />
      <fieldset className="segments" aria-label="Rows">
        {(['compared', 'all'] as const).map((each) => (
          <button key={each} type="button" aria-pressed={scope === each} onClick={() => setScope(each)}>
            {each === 'compared' ? `Compared ${compared}` : 'All runs'}
          </button>
        ))}
      </fieldset>
      <SettingSelect label="Group by" choices={groupings} value={group} onChange={props.onGroup} />
      {group === '' ? (
        <SettingSelect label="Color by" choices={groupings} value={color} onChange={props.onColor} />
      ) : (
        <label className="choice">
          <span>Band</span>
          <select value={band} onChange={({ target }) => setBand(target.value as Band)}>
            <option value="deviation">standard deviation</option>
            <option value="range">min to max</option>
          </select>
        </label>
      )}
      {props.children}
    </search>
  );
}
