import { commandIds, factsOf } from '../../core/contract/commands.ts';
import { Button } from '../components/basics.tsx';
import { Dialog } from '../components/dialog.tsx';
import styles from './commands.module.css';
import { keyLabels } from './commands.ts';

/** Shortcuts of single pages. */
const pageShortcuts: [keys: string, title: string][] = [
  ['Space', 'Replay: play or pause'],
  ['←', 'Replay: step back'],
  ['→', 'Replay: step forward'],
  ['Home', 'Replay: go to start'],
  ['End', 'Replay: go to end'],
  ['P', 'Play: start or stop the agent'],
  ['N', 'Play: next level'],
  ['R', 'Play: restart the level'],
  ['/', 'New run: search all settings'],
  ['Alt ↑', 'Queue: move up'],
  ['Alt ↓', 'Queue: move down'],
  ['Esc', 'Close a dialog or a menu'],
];

export function KeysDialog({ close }: { close: () => void }) {
  const commandShortcuts = commandIds.flatMap((id) => {
    const { keys, title } = factsOf(id);
    return keys ? [{ keys: keyLabels(keys), title }] : [];
  });
  const all = [...commandShortcuts, ...pageShortcuts.map(([key, title]) => ({ keys: key.split(' '), title }))];
  return (
    <Dialog onClose={close} title="Keyboard shortcuts" actions={<Button onClick={close}>Close</Button>}>
      <dl className={styles.keys}>
        {all.map(({ keys, title }) => (
          <div key={title}>
            <dt>{title}</dt>
            <dd>
              <Keys keys={keys} />
            </dd>
          </div>
        ))}
      </dl>
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
