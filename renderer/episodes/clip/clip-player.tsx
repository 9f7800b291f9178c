import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { exportFileName } from '../../../core/contract/file-names.ts';
import { saveFile } from '../../api/files.ts';
import { frames } from '../../base/frame-scheduler.ts';
import { formatRoute } from '../../base/routes.ts';
import { useTheme } from '../../base/theme.ts';
import { useInView } from '../../charts/use-in-view.ts';
import { Button, IconButton } from '../../components/basics.tsx';
import { onImageDecoded } from '../../environments/images.ts';
import { prefersReducedMotion } from '../../player/use-player.ts';
import { useApp } from '../../stores/app-store.ts';
import styles from './clip.module.css';
import { type Clip, describeClip, resultText, stageTitle } from './clip.ts';
import { ClipPicture, clipGif, pageSizes } from './clip-picture.ts';
import type { ClipResult } from './use-clip.ts';

interface ClipPlayerProps {
  runId: string;
  /** Display name of the run. */
  name: string;
  result: ClipResult;
}

/** Plays one level over a run's checkpoints in a loop, and saves it as a GIF. */
export function ClipPlayer({ runId, name, result }: ClipPlayerProps) {
  // The canvas is drawn in the theme's colors.
  const theme = useTheme((state) => state.theme);
  if (result && 'missing' in result) return <p className={`muted ${styles.missing}`}>{result.missing}</p>;
  return (
    <figure className={`${styles.clip} wrap`} aria-label="Clip of one level over the checkpoints" aria-busy={!result}>
      {result ? <CanvasPlayer key={theme} name={name} clip={result.clip} /> : <div className={styles.place} />}
      {result && <Stages runId={runId} clip={result.clip} />}
    </figure>
  );
}

function CanvasPlayer({ name, clip }: { name: string; clip: Clip }) {
  const { report, notify } = useApp.getState();
  const canvas = useRef<HTMLCanvasElement>(null);
  const inView = useInView(canvas);
  const [playing, setPlaying] = useState(() => !prefersReducedMotion());
  const [saving, setSaving] = useState(false);
  usePlayback(canvas, clip, playing, inView);
  const save = () => {
    setSaving(true);
    clipGif(clip)
      .then((gif) => {
        saveFile(exportFileName(name, `level ${clip.level}`, 'gif'), gif);
        notify('Clip saved');
      })
      .catch(report)
      .finally(() => setSaving(false));
  };
  return (
    <div className={styles.player}>
      <canvas ref={canvas} className={styles.canvas} role="img" aria-label={describeClip(clip)} />
      <div className={`${styles.actions} row`}>
        <IconButton
          icon={playing ? 'pause' : 'play'}
          label={playing ? 'Pause clip' : 'Play clip'}
          onClick={() => setPlaying(!playing)}
        />
        <span className="spacer" />
        <Button icon="export" disabled={saving} onClick={save}>
          {saving ? 'Saving…' : 'Save GIF'}
        </Button>
      </div>
    </div>
  );
}

/** Shows the text alternative of the clip, with links to its episodes. */
function Stages({ runId, clip: { level, stages } }: { runId: string; clip: Clip }) {
  return (
    <table className={styles.stages}>
      <caption>Level {level}</caption>
      <tbody>
        {stages.map((stage) => (
          <tr key={stage.iteration}>
            <th scope="row">
              <a
                href={formatRoute({
                  ...{ page: 'replay', runId, evaluation: stage.evaluation },
                  episodeId: stage.summary.id,
                })}
              >
                {stageTitle(stage)}
              </a>
            </th>
            <td data-success={stage.summary.success}>{resultText(stage)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/**
 * Draws in animation frames while playing and visible. With reduced motion, shows the last frame until the
 * user presses Play.
 */
function usePlayback(
  canvas: { current: HTMLCanvasElement | null },
  clip: Clip,
  playing: boolean,
  inView: boolean,
): void {
  const [picture, setPicture] = useState<ClipPicture | null>(null);
  const time = useRef(Number.POSITIVE_INFINITY);
  useLayoutEffect(() => {
    const element = canvas.current!;
    const pixels = Math.max(1, globalThis.devicePixelRatio || 1);
    const created = ClipPicture.on(element, clip, pageSizes, pixels);
    if (created) {
      element.style.width = `${created.width / pixels}px`;
      created.drawAt(created.length, true);
    }
    time.current = created?.length ?? 0;
    setPicture(created);
  }, [canvas, clip]);

  useEffect(() => {
    if (!picture || playing) return;
    const redraw = () => picture.drawAt(Math.min(time.current, picture.length), true);
    return onImageDecoded(() => frames.schedule(redraw));
  }, [picture, playing]);

  useEffect(() => {
    if (!picture || !playing || !inView) return;
    const still = prefersReducedMotion();
    let last = performance.now();
    if (time.current >= picture.length) time.current = 0;
    const tick = () => {
      const now = performance.now();
      // Continue from the same time after the browser paused animation frames.
      time.current = (time.current + Math.min(now - last, 100)) % picture.length;
      last = now;
      picture.drawAt(time.current, still);
      frames.schedule(tick);
    };
    frames.schedule(tick);
    return () => frames.cancel(tick);
  }, [picture, playing, inView]);
}
