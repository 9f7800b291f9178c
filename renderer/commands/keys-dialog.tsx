import { commandIds, factsOf } from '../../core/contract/commands.ts';
import { Button } from '../components/basics.tsx';
import { Dialog } from '../components/dialog.tsx';
import styles from './commands.module.css';
import { keyWords } from './commands.ts';

/** Keys that belong to a page rather than to a command. */
const ofPages: [keys: string, title: string][] = [
  ['Space', 'Replay: play or pause'],
  ['←', 'Replay: a step back'],
  ['→', 'Replay: a step on'],
  ['Home', 'Replay: to the start'],
  ['End', 'Replay: to the end'],
  ['P', 'Play: the agent plays, or stops'],
  ['N', 'Play: the next level'],
  ['R', 'Play: the level from its start'],
  ['/', 'New run: search all settings'],
  ['Alt ↑', 'Queue: sooner'],
  ['Alt ↓', 'Queue: later'],
  ['Esc', 'Close a dialog or a menu'],
];

export function KeysDialog({ close }: { close: () => void }) {
  const own = commandIds.flatMap((id) => {
    const { keys, title } = factsOf(id);
    return keys ? [{ keys: keyWords(keys), title }] : [];
  });
  const all = [...own, ...ofPages.map(([key, title]) => ({ keys: key.split(' '), title }))];
  return (
    <Dialog open onClose={close} title="Keys" actions={<Button onClick={close}>Close</Button>}>
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
