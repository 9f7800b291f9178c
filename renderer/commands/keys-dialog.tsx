import { commandIds, factsOf } from '../../core/contract/commands.ts';
import { Button } from '../components/basics.tsx';
import { Dialog } from '../components/dialog.tsx';
import styles from './commands.module.css';
import { keyLabels } from './commands.ts';

interface Shortcut {
  keys: readonly string[];
  title: string;
}

/** Shortcuts of single pages, which aren't commands. */
const pageShortcuts: Record<string, [keys: string, title: string][]> = {
  Replay: [
    ['Space', 'Play or pause'],
    ['←', 'Step back'],
    ['→', 'Step forward'],
    ['Home', 'Go to start'],
    ['End', 'Go to end'],
  ],
  Play: [
    ['P', 'Start or stop the agent'],
    ['N', 'Next level'],
    ['R', 'Restart the level'],
  ],
  'Lists and forms': [
    ['/', 'Search all settings of a new run'],
    ['↑', 'Previous run in the sidebar'],
    ['↓', 'Next run in the sidebar'],
    ['Alt ↑', 'Move a queued run up'],
    ['Alt ↓', 'Move a queued run down'],
    ['Esc', 'Close a dialog or a menu'],
  ],
};

const commandShortcuts = (menu: 'Go' | 'Run' | 'App'): Shortcut[] =>
  commandIds.flatMap((id) => {
    const { keys, title, menu: own } = factsOf(id);
    return keys && own === menu ? [{ keys: keyLabels(keys), title }] : [];
  });

/** Returns all shortcuts, grouped by where they work. */
const shortcutGroups = (): [title: string, shortcuts: Shortcut[]][] => [
  ['Everywhere', commandShortcuts('App')],
  ['Go to', commandShortcuts('Go')],
  ["A run's page", commandShortcuts('Run')],
  ...Object.entries(pageShortcuts).map(([title, shortcuts]): [string, Shortcut[]] => [
    title,
    shortcuts.map(([keys, name]) => ({ keys: keys.split(' '), title: name })),
  ]),
];

export function KeysDialog({ close }: { close: () => void }) {
  return (
    <Dialog wide onClose={close} title="Keyboard shortcuts" actions={<Button onClick={close}>Close</Button>}>
      <div className={styles.keys}>
        {shortcutGroups().map(([group, shortcuts]) => (
          <section key={group} aria-label={group}>
            <h3>{group}</h3>
            <dl>
              {shortcuts.map(({ keys, title }) => (
                <div key={title}>
                  <dt>{title}</dt>
                  <dd>
                    <Keys keys={keys} />
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}

export function Keys({ keys }: { keys: readonly string[] }) {
  return (
    <span className={styles.combination}>
      {keys.map((key) => (
        <kbd key={key}>{key}</kbd>
      ))}
    </span>
  );
}
