import { Autocomplete } from '@base-ui/react/autocomplete';
import { Dialog } from '@base-ui/react/dialog';
import { useEffect, useMemo, useState } from 'react';
import { type CommandId, commandIds, factsOf } from '../../core/contract/commands.ts';
import type { RunSummary } from '../../core/contract/contract.ts';
import { useApi } from '../api/context.ts';
import { navigate } from '../base/router.ts';
import type { Route } from '../base/routes.ts';
import { runLabel, StatusDot } from '../components/basics.tsx';
import { percent } from '../components/format.ts';
import { Icon } from '../components/icon.tsx';
import { successOf } from '../components/run-facts.ts';
import { useApp } from '../stores/app-store.ts';
import { useSample } from '../stores/use-sample.ts';
import styles from './commands.module.css';
import { actionsAt, keyLabels } from './commands.ts';
import { Keys } from './keys-dialog.tsx';

interface Item {
  id: string;
  /** Text to search and display. */
  label: string;
  perform: () => void;
  command?: CommandId;
  run?: RunSummary;
}

interface Group {
  value: string;
  items: Item[];
}

/** Searches commands and runs by name. */
export function Palette({ route, close }: { route: Route; close: () => void }) {
  const api = useApi();
  const runs = useApp((state) => state.runs);
  // Once there are other runs, the sample is only linked here.
  const sample = useSample(true);
  const groups = useMemo(
    () => groupsOf(actionsAt(api, route), [...(runs ?? []), ...(sample ? [sample.summary] : [])], route),
    [api, route, runs, sample],
  );
  const [opened] = useState(route);
  // The actions belong to the page where the palette was opened.
  useEffect(() => {
    if (route !== opened) close();
  }, [route, opened, close]);
  const choose = (item: Item) => {
    close();
    item.perform();
  };
  return (
    <Dialog.Root open onOpenChange={(open) => !open && close()}>
      <Dialog.Portal>
        <Dialog.Backdrop className={styles.backdrop} />
        <Dialog.Popup className={`${styles.palette} column`} aria-label="Commands and runs">
          <Autocomplete.Root
            open
            inline
            items={groups}
            autoHighlight="always"
            keepHighlight
            itemToStringValue={(item: Item) => item.label}
          >
            <div className={`${styles.search} row`}>
              <Icon name="search" />
              <Autocomplete.Input
                className={styles.input}
                placeholder="Find a command or a run"
                aria-label="Find a command or a run"
              />
            </div>
            <Autocomplete.Empty className={styles.empty}>No results.</Autocomplete.Empty>
            <Autocomplete.List className={styles.list}>
              {(group: Group) => (
                <Autocomplete.Group key={group.value} items={group.items}>
                  <Autocomplete.GroupLabel className={`${styles.label} faint small`}>
                    {group.value}
                  </Autocomplete.GroupLabel>
                  <Autocomplete.Collection>
                    {(item: Item) => (
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

function ItemContent({ item: { label, command, run } }: { item: Item }) {
  const keys = command && factsOf(command).keys;
  const success = run && successOf(run).evaluation;
  return (
    <>
      {run && <StatusDot run={run} />}
      <span className={styles.text}>{run ? run.name : label}</span>
      {run && (
        <span className={`${styles.detail} muted small`}>
          {runLabel(run)}
          {success !== undefined && `, ${percent(success, 0)}`}
        </span>
      )}
      {keys && <Keys keys={keyLabels(keys)} />}
    </>
  );
}

const menuLabels = { Go: 'Go to', Run: 'This run', App: 'App' } as const;

function groupsOf(actions: ReturnType<typeof actionsAt>, runs: readonly RunSummary[], route: Route): Group[] {
  const offered = commandIds.filter((id) => actions[id] && id !== 'app.palette');
  const menuGroup = (menu: keyof typeof menuLabels) => ({
    value: menuLabels[menu],
    items: offered
      .filter((id) => factsOf(id).menu === menu)
      .map((id): Item => ({ id, label: factsOf(id).title, command: id, perform: actions[id]! })),
  });
  const openRun = 'runId' in route ? route.runId : null;
  const items = runs
    .filter(({ id, marks }) => id !== openRun && !marks.archived)
    .map(
      (run): Item => ({
        id: run.id,
        label: `${run.name} ${run.id} ${run.marks.tags.join(' ')}`,
        run,
        perform: () => navigate({ page: 'run', runId: run.id }),
      }),
    );
  return [menuGroup('Run'), menuGroup('Go'), { value: 'Runs', items }, menuGroup('App')].filter(
    (group) => group.items.length > 0,
  );
}
