import { Autocomplete } from '@base-ui/react/autocomplete';
import { Dialog } from '@base-ui/react/dialog';
import { useEffect, useMemo, useState } from 'react';
import { factsOf } from '../../core/contract/commands.ts';
import type { Route } from '../base/routes.ts';
import { runLabel, StatusDot } from '../components/basics.tsx';
import { percent } from '../components/format.ts';
import { Icon } from '../components/icon.tsx';
import { successOf } from '../components/run-facts.ts';
import styles from './commands.module.css';
import { keyLabels } from './commands.ts';
import { Keys } from './keys-dialog.tsx';
import { type Group, search } from './match.ts';
import { type PaletteItem, usePaletteGroups } from './palette-items.ts';

const placeholder = 'Find a command, run, preset, setting, metric, tag or model';
/** Maximum number of runs before a search, and of items per group in the results. */
const limit = 8;

/** Finds commands, runs and everything else that has a name. */
export function Palette({ route, close }: { route: Route; close: () => void }) {
  const { first, all } = usePaletteGroups(route);
  const [query, setQuery] = useState('');
  const groups = useMemo(() => {
    if (query.trim() !== '') return search(all, query, limit);
    return first.map((group) => (group.value === 'Runs' ? { ...group, items: group.items.slice(0, limit) } : group));
  }, [first, all, query]);
  const [opened] = useState(route);
  // The actions belong to the page where the palette was opened.
  useEffect(() => {
    if (route !== opened) close();
  }, [route, opened, close]);
  const choose = (item: PaletteItem) => {
    close();
    item.perform();
  };
  return (
    <Dialog.Root open onOpenChange={(open) => !open && close()}>
      <Dialog.Portal>
        <Dialog.Backdrop className={styles.backdrop} />
        <Dialog.Popup className={`${styles.palette} column`} aria-label="Find anything">
          <Autocomplete.Root
            open
            inline
            mode="none"
            items={groups}
            value={query}
            onValueChange={setQuery}
            autoHighlight="always"
            keepHighlight
            itemToStringValue={(item: PaletteItem) => item.label}
          >
            <div className={`${styles.search} row`}>
              <Icon name="search" />
              <Autocomplete.Input className={styles.input} placeholder={placeholder} aria-label={placeholder} />
            </div>
            <Autocomplete.Empty className={styles.empty}>No results for “{query.trim()}”</Autocomplete.Empty>
            <Autocomplete.List className={styles.list}>
              {(group: Group<PaletteItem>) => (
                <Autocomplete.Group key={group.value} items={group.items}>
                  <Autocomplete.GroupLabel className={`${styles.label} faint small`}>
                    {group.value}
                  </Autocomplete.GroupLabel>
                  <Autocomplete.Collection>
                    {(item: PaletteItem) => (
                      <Autocomplete.Item
                        key={item.id}
                        value={item}
                        className={`${styles.item} row`}
                        onClick={() => choose(item)}
                      >
                        <ItemContent item={item} />
                      </Autocomplete.Item>
                    )}
                  </Autocomplete.Collection>
                </Autocomplete.Group>
              )}
            </Autocomplete.List>
          </Autocomplete.Root>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function ItemContent({ item: { label, icon, detail, command, run } }: { item: PaletteItem }) {
  const keys = command && factsOf(command).keys;
  const success = run && successOf(run).evaluation;
  const runDetail = run && `${runLabel(run)}${success === undefined ? '' : `, ${percent(success, 0)}`}`;
  return (
    <>
      <span className={styles.icon}>{run ? <StatusDot run={run} /> : <Icon name={icon} size={14} />}</span>
      <span className={styles.text}>{label}</span>
      {(runDetail ?? detail) && <span className={`${styles.detail} muted small`}>{runDetail ?? detail}</span>}
      {keys && <Keys keys={keyLabels(keys)} />}
    </>
  );
}
