import { Menu } from '@base-ui/react/menu';
import { Fragment, type ReactNode } from 'react';
import type { CommandId } from '../../core/contract/commands.ts';
import type { RunSummary } from '../../core/contract/contract.ts';
import { useApi } from '../api/context.ts';
import { Icon, type IconName } from '../components/icon.tsx';
import styles from '../components/menu.module.css';
import { runActions } from './run-commands.ts';

type Entry = { id: CommandId; icon: IconName; title: string };

/** Returns the menu's entries in groups: most used first, destructive last. */
const entries = ({ marks, status }: RunSummary): Entry[][] => [
  [
    { id: 'run.page', icon: 'study', title: 'Open' },
    { id: 'run.replay', icon: 'replay', title: 'Replay episodes' },
  ],
  [
    {
      id: 'run.start',
      icon: 'play',
      title: status === 'created' || status === 'queued' ? 'Start now' : 'Resume',
    },
    { id: 'run.pause', icon: 'pause', title: 'Pause' },
    { id: 'run.stop', icon: 'stop', title: 'Stop…' },
  ],
  [
    { id: 'run.rename', icon: 'rename', title: 'Rename…' },
    { id: 'run.tag', icon: 'tag', title: 'Tag…' },
    { id: 'run.star', icon: 'star', title: marks.starred ? 'Unstar' : 'Star' },
    { id: 'run.duplicate', icon: 'copy', title: 'Duplicate' },
  ],
  [
    { id: 'run.play', icon: 'game', title: 'Play against it' },
    { id: 'run.export', icon: 'download', title: 'Export as one file…' },
    { id: 'run.exports', icon: 'export', title: 'Export for other programs' },
    { id: 'run.clean', icon: 'disk', title: 'Free disk space…' },
    { id: 'run.archive', icon: 'archive', title: marks.archived ? 'Unarchive' : 'Archive' },
    { id: 'run.delete', icon: 'trash', title: 'Delete…' },
  ],
];

interface RunMenuProps {
  run: RunSummary;
  /** Commands to leave out because they have their own buttons. */
  without?: readonly CommandId[];
  children?: ReactNode;
}

/** Shows the menu of a run. `children`: additional items before the last group. */
export function RunMenu({ run, without = [], children }: RunMenuProps) {
  const api = useApi();
  const actions = runActions(api, run);
  const groups = entries(run)
    .map((group) => group.filter(({ id }) => actions[id] && !without.includes(id)))
    .filter((group) => group.length > 0);
  return (
    <Menu.Root>
      <Menu.Trigger className="icon-button" aria-label={`More for ${run.name}`} title="More">
        <Icon name="more" />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner className={styles.positioner} sideOffset={4} align="end">
          <Menu.Popup className={styles.popup}>
            {groups.map((group, index) => (
              <Fragment key={group[0]!.id}>
                {index > 0 && <Menu.Separator className={styles.separator} />}
                {index === groups.length - 1 && children}
                {group.map(({ id, icon, title }) => (
                  <Menu.Item
                    key={id}
                    className={styles.item}
                    data-danger={id === 'run.delete' || undefined}
                    onClick={actions[id]}
                  >
                    <Icon name={icon} size={14} />
                    {title}
                  </Menu.Item>
                ))}
              </Fragment>
            ))}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}

/** Shows an additional item of the run menu. */
export function RunMenuItem({
  icon,
  onClick,
  children,
}: {
  icon: IconName;
  onClick: () => void;
  children: ReactNode;
}) {
  return (
    <Menu.Item className={styles.item} onClick={onClick}>
      <Icon name={icon} size={14} />
      {children}
    </Menu.Item>
  );
}
