import type { Game } from '../../../core/contract/contract.ts';
import { isDirectional } from '../../components/action-keys.ts';
import { ActionField, ActionPad } from '../../components/action-pad.tsx';
import { Button } from '../../components/basics.tsx';
import { environmentOf } from '../../environments/registry.ts';
import styles from './side.module.css';
import { SideBoard } from './side-board.tsx';

interface YourSideProps {
  game: Game;
  onAction: (action: string) => void;
  onRestart: () => void;
  onNext: () => void;
}

/** Shows the user's board and actions. */
export function YourSide({ game, onAction, onRestart, onNext }: YourSideProps) {
  const { you, maxMoves, maxActionsPerTurn } = game;
  const over = you.state === 'over';
  return (
    <section className={`panel ${styles.side} column`} aria-labelledby="play-you">
      <header className={`${styles.head} wrap`}>
        <h2 id="play-you">You</h2>
        <span className="faint">
          {you.movesLeft} of {maxMoves} actions left
        </span>
      </header>
      <SideBoard game={game} side={you} who="you" act={onAction} />
      <div className={styles.actions}>
        <Button icon="next" kind={over ? 'primary' : 'plain'} onClick={onNext}>
          Next level
        </Button>
        <kbd>N</kbd>
        <Button icon="reset" disabled={you.frames.length === 1} onClick={onRestart}>
          Restart
        </Button>
        <kbd>R</kbd>
      </div>
      {game.actions.length > 0 ? (
        <ActionPad actions={game.actions} disabled={over} onAction={onAction} />
      ) : environmentOf(game.type).boardActs ? (
        <details className={styles.typed}>
          <summary className="faint">Type an action</summary>
          <ActionField disabled={over} onAction={onAction} />
        </details>
      ) : (
        <ActionField disabled={over} onAction={onAction} />
      )}
      <p className="faint">
        {isDirectional(game.actions) && 'Use the arrow keys to move. '}
        {maxActionsPerTurn > 1 && 'You see the result of each action; the agent plans several per turn. '}
        Only your first attempt counts.
      </p>
    </section>
  );
}
