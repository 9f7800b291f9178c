import { Popover } from '@base-ui/react/popover';
import { useState } from 'react';
import { Button } from '../components/basics.tsx';
import { Icon } from '../components/icon.tsx';
import styles from './column-choice.module.css';
import { type Column, settingPrefix, type TableId } from './columns.ts';
import { useRunTables } from './preferences.ts';

interface ColumnChoiceProps {
  table: TableId;
  all: readonly Column[];
  /** In display order. */
  shown: readonly Column[];
}

/** Shows a button that opens the list of columns. Chosen columns are stored; the default ones depend on the width. */
export function ColumnChoice({ table, all, shown }: ColumnChoiceProps) {
  const change = useRunTables((state) => state.change);
  const isDefault = useRunTables((state) => state[table].columns === null);
  const ids = shown.map(({ id }) => id);
  const toggle = (id: string) =>
    change(table, { columns: ids.includes(id) ? ids.filter((each) => each !== id) : [...ids, id] });
  return (
    <Popover.Root>
      <Popover.Trigger className="button">
        <Icon name="columns" size={14} />
        Columns
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Positioner positionMethod="fixed" className={styles.positioner} sideOffset={6} align="end">
          <Popover.Popup className={`${styles.popup} column`} aria-label="Columns">
            <Choices all={all} chosen={new Set(ids)} toggle={toggle} />
            <footer className={styles.foot}>
              <Button kind="quiet" disabled={isDefault} onClick={() => change(table, { columns: null })}>
                Reset columns
              </Button>
            </footer>
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}

interface ChoicesProps {
  all: readonly Column[];
  chosen: ReadonlySet<string>;
  toggle: (id: string) => void;
}

function Choices({ all, chosen, toggle }: ChoicesProps) {
  const [text, setText] = useState('');
  const matches = ({ title, id }: Column) => `${title} ${id}`.toLowerCase().includes(text.trim().toLowerCase());
  const sections = [
    { title: 'Run', columns: all.filter(({ id }) => !id.includes(':')) },
    { title: 'Newest values of metrics', columns: all.filter(({ id }) => id.startsWith('metric:')) },
    { title: 'Settings', columns: all.filter(({ id }) => id.startsWith(settingPrefix)) },
  ].map((section) => ({ ...section, columns: section.columns.filter(matches) }));
  return (
    <>
      <input
        type="search"
        className={styles.search}
        value={text}
        placeholder="Search columns"
        aria-label="Search columns"
        onChange={({ target }) => setText(target.value)}
      />
      <div className={styles.list}>
        {sections.map(
          ({ title, columns }) =>
            columns.length > 0 && (
              <fieldset key={title} className={styles.section}>
                <legend className="muted small">{title}</legend>
                {columns.map(({ id, title: name, hint }) => (
                  <label key={id} className={styles.choice} title={hint}>
                    <input type="checkbox" checked={chosen.has(id)} onChange={() => toggle(id)} />
                    <span className="ellipsis">
                      {name}
                      {id.startsWith(settingPrefix) && (
                        <span className="faint small"> {id.slice(settingPrefix.length)}</span>
                      )}
                    </span>
                  </label>
                ))}
              </fieldset>
            ),
        )}
        {sections.every(({ columns }) => columns.length === 0) && <p className={styles.none}>No matching columns</p>}
      </div>
    </>
  );
}
