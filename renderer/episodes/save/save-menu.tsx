import { Menu } from '@base-ui/react/menu';
import { useState } from 'react';
import { linkScheme } from '../../../core/contract/bridge.ts';
import type { Replay } from '../../../core/contract/contract.ts';
import { exportFileName } from '../../../core/contract/file-names.ts';
import { useApi } from '../../api/context.ts';
import { inDesktop, saveFile } from '../../api/files.ts';
import { formatRoute } from '../../base/routes.ts';
import { copyText } from '../../components/copy.ts';
import { Icon, type IconName } from '../../components/icon.tsx';
import menu from '../../components/menu.module.css';
import { MenuItem, PopupMenu } from '../../components/menu.tsx';
import { useReplayStore } from '../../player/replay-view.tsx';
import { useApp } from '../../stores/app-store.ts';
import { describeEpisode, episodePage } from './episode-page.ts';
import { episodeGif, framePictures } from './pictures.ts';
import styles from './save-menu.module.css';

interface SaveMenuProps {
  runId: string;
  /** Display name of the run. */
  name: string;
  replay: Replay;
  evaluation: string | null;
}

/** Saves the current episode, or copies a link to the current turn. */
export function SaveMenu({ runId, name, replay, evaluation }: SaveMenuProps) {
  const api = useApi();
  const report = useApp((state) => state.report);
  const stage = useReplayStore();
  const [message, setMessage] = useState('');
  const { id } = replay.summary;
  const episodeName = describeEpisode(replay.summary);

  function perform(done: string, work: () => Promise<void> | void): void {
    setMessage('');
    Promise.resolve()
      .then(work)
      .then(() => setMessage(done))
      .catch(report);
  }

  const json = async () => {
    const episode = await api.call('rollouts.episode', { runId, evaluation, episodeId: id });
    const text = `${JSON.stringify({ run: runId, evaluation, episode }, null, 2)}\n`;
    saveFile(exportFileName(name, episodeName, 'json'), new Blob([text], { type: 'application/json' }));
  };
  const gif = async () => saveFile(exportFileName(name, episodeName, 'gif'), await episodeGif(replay));
  const page = async () => {
    const html = episodePage({ replay, run: name, pictures: await framePictures(replay) });
    saveFile(exportFileName(name, episodeName, 'html'), new Blob([html], { type: 'text/html' }));
  };
  const link = () => {
    const { index } = stage.getState().player;
    const turn = index === 0 ? null : replay.frames[index]!.turn + 1;
    const hash = formatRoute({ page: 'replay', runId, evaluation, episodeId: id, turn });
    const page = `${location.origin}${location.pathname}${hash}`;
    return copyText(inDesktop() ? `${linkScheme}://${hash.replace(/^#\//, '')}` : page, 'Link copied');
  };

  const choices: { icon: IconName; title: string; note: string; choose: () => void }[] = [
    {
      icon: 'replay',
      title: 'Animated GIF',
      note: 'The board, action by action',
      choose: () => perform('GIF saved', gif),
    },
    {
      icon: 'note',
      title: 'Web page',
      note: 'A player, boards and responses in one file',
      choose: () => perform('Page saved', page),
    },
    {
      icon: 'export',
      title: 'JSON',
      note: 'All recorded data, including tokens',
      choose: () => perform('JSON saved', json),
    },
    {
      icon: 'copy',
      title: 'Copy link',
      note: 'To this episode and turn',
      choose: () => void link(),
    },
  ];

  return (
    <>
      <PopupMenu
        trigger={
          <Menu.Trigger className="button">
            <Icon name="down" size={14} />
            Save
          </Menu.Trigger>
        }
      >
        {choices.map(({ icon, title, note, choose }) => (
          <MenuItem key={title} icon={icon} onClick={choose}>
            {title}
            <span className={`${menu.note} faint small`}>{note}</span>
          </MenuItem>
        ))}
      </PopupMenu>
      <span className={`${styles.message} muted small`} role="status">
        {message}
      </span>
    </>
  );
}
