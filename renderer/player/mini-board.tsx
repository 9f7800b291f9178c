import { useEffect, useMemo, useRef } from 'react';
import { frames } from '../base/frame-scheduler.ts';
import { useTheme } from '../base/theme.ts';
import { Brush } from '../environments/canvas.ts';
import { onImageDecoded } from '../environments/images.ts';
import styles from './mini-board.module.css';
import type { Painting } from './paintings.ts';
import { useReplayStore } from './replay-view.tsx';

interface MiniBoardProps {
  painting: Painting;
  /** Length of the longer side in CSS pixels. */
  size: number;
}

/**
 * Shows a small board that follows the enclosing player, outside React. It stays at its last frame when its
 * episode ends.
 */
export function MiniBoard(props: MiniBoardProps) {
  // The canvas is drawn in the theme's colors.
  const theme = useTheme((state) => state.theme);
  return <Drawing key={theme} {...props} />;
}

function Drawing({ painting, size }: MiniBoardProps) {
  const store = useReplayStore();
  const canvas = useRef<HTMLCanvasElement>(null);
  const { scene } = painting;
  const unit = size / Math.max(scene.width, scene.height);
  const style = useMemo(() => ({ width: scene.width * unit, height: scene.height * unit }), [scene, unit]);

  useEffect(() => {
    const element = canvas.current!;
    const pixels = Math.max(1, globalThis.devicePixelRatio || 1);
    element.width = Math.round(style.width * pixels);
    element.height = Math.round(style.height * pixels);
    const context = element.getContext('2d');
    if (!context) return;
    const brush = new Brush(painting.painter, unit * pixels);
    let shown = Number.NaN;
    const draw = () => {
      const { index, motion } = store.getState().player;
      const last = painting.count - 1;
      const at = Math.min(index, last);
      const progress = index > last ? 1 : motion;
      if (at + progress === shown) return;
      shown = at + progress;
      context.clearRect(0, 0, element.width, element.height);
      brush.ground(context, scene);
      brush.pieces(context, scene.pieces(at, progress), 0, 0);
    };
    draw();
    const stop = store.subscribe(() => frames.schedule(draw));
    const redraw = () => {
      shown = Number.NaN;
      frames.schedule(draw);
    };
    const stopImages = scene.images && onImageDecoded(redraw);
    return () => {
      stop();
      stopImages?.();
      frames.cancel(draw);
    };
  }, [painting, scene, store, unit, style]);

  return <canvas ref={canvas} className={styles.board} style={style} />;
}
