import { Fragment } from 'react';
import type { CommandId } from '../../core/contract/commands.ts';
import type { RunSummary } from '../../core/contract/contract.ts';
import { useApi } from '../api/context.ts';
import type { IconName } from '../components/icon.tsx';
import { MenuButton, MenuItem, MenuSeparator, PopupMenu } from '../components/menu.tsx';
import { useReadOnly } from '../stores/write-access.ts';
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
    { id: 'run.submit', icon: 'system', title: 'Submit to a cluster…' },
    { id: 'run.pause', icon: 'pause', title: 'Pause' },
    { id: 'run.stop', icon: 'stop', title: 'Stop…' },
  ],
  [
    { id: 'run.fork', icon: 'fork', title: 'Fork from a checkpoint…' },
    { id: 'run.evaluate', icon: 'ok', title: 'Evaluate a checkpoint…' },
    { id: 'run.more', icon: 'play', title: 'Train more…' },
  ],
  [
    { id: 'run.rename', icon: 'rename', title: 'Rename…' },
    { id: 'run.tag', icon: 'tag', title: 'Tag…' },
    { id: 'run.star', icon: 'star', title: marks.starred ? 'Unstar' : 'Star' },
    { id: 'run.duplicate', icon: 'copy', title: 'Duplicate' },
  ],
  [
    { id: 'run.play', icon: 'game', title: 'Play against it' },
    { id: 'run.export', icon: 'export', title: 'Export as one file…' },
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
}

/** Shows the menu of a run. */
export function RunMenu({ run, without = [] }: RunMenuProps) {
  const api = useApi();
  const actions = runActions(api, run, useReadOnly());
  const groups = entries(run)
    .map((group) => group.filter(({ id }) => actions[id] && !without.includes(id)))
    .filter((group) => group.length > 0);
  return (
    <PopupMenu trigger={<MenuButton label={`More for ${run.name}`} />}>
      {groups.map((group, index) => (
        <Fragment key={group[0]!.id}>
          {index > 0 && <MenuSeparator />}
          {group.map(({ id, icon, title }) => (
            <MenuItem key={id} icon={icon} data-danger={id === 'run.delete' || undefined} onClick={actions[id]}>
              {title}
            </MenuItem>
          ))}
        </Fragment>
      ))}
    </PopupMenu>
  );
}
