import { Menu } from '@base-ui/react/menu';
import { useState } from 'react';
import type { Replay } from '../../../../core/contract/contract.ts';
import { useApi } from '../../../api/context.ts';
import { Icon } from '../../../components/icon.tsx';
import { formatRoute } from '../../../router.ts';
import { useApp } from '../../../stores/app-store.ts';
import { useReplayStore } from '../../../views/replay-view.tsx';
import { episodePage } from './episode-page.ts';
import { episodeGif, framePictures } from './pictures.ts';
import { fileName, saveFile } from './save.ts';
import styles from './save-menu.module.css';

interface SaveMenuProps {
  runId: string;
  /** As people call the run. */
  name: string;
  replay: Replay;
  evaluation: string | null;
}

/** Saves the episode on the stage as a file, or copies the address of the turn that is shown. */
export function SaveMenu({ runId, name, replay, evaluation }: SaveMenuProps) {
  const api = useApi();
  const report = useApp((state) => state.report);
  const stage = useReplayStore();
  const [said, setSaid] = useState('');
  const { id } = replay.summary;

  function doing(words: string, work: () => Promise<void> | void): void {
    setSaid('');
    Promise.resolve()
      .then(work)
      .then(() => setSaid(words))
      .catch(report);
  }

  const json = async () => {
    const episode = await api.call('rollouts.episode', { runId, evaluation, episodeId: id });
    const text = `${JSON.stringify({ run: runId, evaluation, episode }, null, 2)}\n`;
    saveFile(fileName(name, id, 'json'), new Blob([text], { type: 'application/json' }));
  };
  const gif = async () => saveFile(fileName(name, id, 'gif'), await episodeGif(replay));
  const page = () => {
    const html = episodePage({ replay, run: name, pictures: framePictures(replay) });
    saveFile(fileName(name, id, 'html'), new Blob([html], { type: 'text/html' }));
  };
  const link = () => {
    const { index } = stage.getState().player;
    const turn = index === 0 ? null : replay.frames[index]!.turn + 1;
    const hash = formatRoute({ page: 'replay', runId, evaluation, episodeId: id, turn });
    return navigator.clipboard.writeText(`${location.origin}${location.pathname}${hash}`);
  };

  return (
    <>
      <Menu.Root>
        <Menu.Trigger className="button">
          <Icon name="down" size={14} />
          Save
        </Menu.Trigger>
        <Menu.Portal>
          <Menu.Positioner sideOffset={4} align="end">
            <Menu.Popup className={styles.menu}>
              <Menu.Item className={styles.item} onClick={() => doing('GIF saved', gif)}>
                Animated GIF <span>the board, move by move</span>
              </Menu.Item>
              <Menu.Item className={styles.item} onClick={() => doing('Page saved', page)}>
                Web page <span>boards, thoughts and answers in one file</span>
              </Menu.Item>
              <Menu.Item className={styles.item} onClick={() => doing('JSON saved', json)}>
                JSON <span>all that was recorded, tokens too</span>
              </Menu.Item>
              <Menu.Separator className={styles.line} />
              <Menu.Item className={styles.item} onClick={() => doing('Link copied', link)}>
                Copy link <span>to this episode and turn</span>
              </Menu.Item>
            </Menu.Popup>
          </Menu.Positioner>
        </Menu.Portal>
      </Menu.Root>
      <span className={styles.said} role="status">
        {said}
      </span>
    </>
  );
}
