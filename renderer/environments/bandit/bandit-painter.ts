import type { PaintedEpisode, Painter, Piece, Scene } from '../environment.ts';
import { round, sameArm } from './arms.ts';
import styles from './bandit-board.module.css';
import { body, coin, frame, lever } from './machine-shapes.ts';

/** Size of a machine with its name. */
const width = 120;
const height = 132;
const middle = width / 2;
/** Horizontal center of the window and the name. */
const center = 52;

export const banditPainter: Painter = {
  styles,
  palette: 'bandit',
  stamps: { pulled: [frame], paid: [frame, coin] },
  middle,
  reach: middle,
  scene,
};

/** Paints machines side by side; the pulled one shows its payout. */
function scene({ frames, arms }: PaintedEpisode): Scene | null {
  if (!arms || arms.length === 0) return null;
  const chosen = frames.findIndex(({ action }) => action !== null);
  const pulled = arms.findIndex((arm) => sameArm(frames[chosen]?.action ?? null, arm));
  const left = (index: number) => index * width;
  return {
    width: arms.length * width,
    height,
    ground: arms.map((_, index) => ({ x: left(index), y: 0, shapes: [...lever, ...body] })),
    pieces(index, progress) {
      const reward = frames[chosen]?.reward ?? 0;
      return arms.flatMap((arm, at): Piece[] => {
        const label = { x: left(at) + center, size: 22 };
        const name = { ...label, text: arm, look: 'text', y: 120 };
        if (at !== pulled || index < chosen || progress < 1)
          return [{ ...label, text: '?', look: 'text', y: 46 }, name];
        return [
          { stamp: reward > 0 ? 'paid' : 'pulled', x: left(at) + middle, y: middle },
          { ...label, text: round(reward), look: reward > 0 ? 'win' : 'text', y: 46 },
          { ...name, look: 'name' },
        ];
      });
    },
  };
}
