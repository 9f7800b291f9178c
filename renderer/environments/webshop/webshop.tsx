import { useMemo } from 'react';
import type { Frame } from '../../../core/contract/contract.ts';
import type { BoardProps, EnvironmentView, IllustrationProps, Outcome } from '../environment.ts';
import { Shapes } from '../shapes.tsx';
import { TextBoard } from '../text-board.tsx';
import { describePage, goalOf, parsePage } from './page.ts';
import styles from './shop-board.module.css';
import { ShopBoard } from './shop-board.tsx';
import { shopPainter } from './shop-painter.ts';

export const webshop: EnvironmentView = {
  type: 'webshop',
  title: 'WebShop',
  tagline: 'Search a shop and buy the product that an instruction asks for.',
  outcome,
  Board,
  boardActs: true,
  painter: shopPainter,
  describe: ({ frames }, index) => {
    const board = frames[index]?.board ?? '';
    const page = parsePage(board);
    return page ? describePage(page) : board;
  },
  Illustration,
};

function outcome(frames: readonly Frame[], index: number): Outcome {
  const frame = frames[index]!;
  const page = parsePage(frame.board);
  if (frame.success) return { tone: 'good', text: 'bought what was asked for', note: 'perfect purchase' };
  if (frame.done && page?.kind === 'done')
    return { tone: 'bad', text: `bought for a reward of ${page.reward.total.toFixed(2)}`, note: 'imperfect purchase' };
  if (!frame.effective) return { tone: 'idle', text: 'changed nothing', note: 'no effect' };
  switch (page?.kind) {
    case 'results':
      return { tone: 'plain', text: `${page.results} results` };
    case 'item':
      return { tone: 'plain', text: page.chosen.length > 0 ? 'chose an option' : 'opened a product' };
    default:
      return { tone: 'plain', text: 'opened a page' };
  }
}

function Board({ replay: { frames }, index, label, act }: BoardProps) {
  const board = frames[index]?.board ?? '';
  const page = useMemo(() => parsePage(board), [board]);
  const goal = useMemo(() => goalOf(frames), [frames]);
  if (!page) return <TextBoard text={board} />;
  return <ShopBoard page={page} goal={goal} label={label} act={act} />;
}

function Illustration({ small }: IllustrationProps) {
  const { results, perfect } = shopPainter.stamps;
  return (
    <div className={`${styles.picture} ${styles.shop}`} data-small={small || undefined} aria-hidden="true">
      {[results!, perfect!].map((shapes) => (
        <svg key={shapes === results ? 'results' : 'perfect'} viewBox="0 0 64 64" aria-hidden="true">
          <Shapes of={shapes} styles={styles} />
        </svg>
      ))}
    </div>
  );
}
