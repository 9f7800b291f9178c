import { useState } from 'react';
import type { Game } from '../../../core/contract/contract.ts';
import { Button } from '../../components/basics.tsx';
import { directions, isDirectional, keyOf } from './moves.ts';
import styles from './side.module.css';
import { SideBoard } from './side-board.tsx';

interface YourSideProps {
  game: Game;
  onMove: (action: string) => void;
  onRestart: () => void;
  onNext: () => void;
}

/** The user's board and moves. */
export function YourSide({ game, onMove, onRestart, onNext }: YourSideProps) {
  const { you, maxMoves } = game;
  const over = you.state === 'over';
  return (
    <section className={`panel ${styles.side}`} aria-labelledby="play-you">
      <header className={styles.head}>
        <h2 id="play-you">You</h2>
        <span className="faint">
          {you.movesLeft} of {maxMoves} moves left
        </span>
      </header>
      <SideBoard game={game} side={you} who="you" />
      <div className={styles.actions}>
        <Button icon="next" kind={over ? 'primary' : 'plain'} onClick={onNext}>
          Next level
        </Button>
        <kbd className={styles.key}>N</kbd>
        <Button icon="reset" disabled={you.frames.length === 1} onClick={onRestart}>
          Restart
        </Button>
        <kbd className={styles.key}>R</kbd>
      </div>
      {game.actions.length > 0 ? (
        <MovePad game={game} disabled={over} onMove={onMove} />
      ) : (
        <AnswerField disabled={over} onMove={onMove} />
      )}
      <p className="faint">
        {isDirectional(game.actions) && 'Arrow keys move. '}
        {maxMoves > 1 && 'You see the result of each move; the agent plans several per turn. '}
        Only your first attempt counts.
      </p>
    </section>
  );
}

interface MovesProps {
  game: Game;
  disabled: boolean;
  onMove: (action: string) => void;
}

/** One button per move. The four directions are laid out like arrow keys. */
function MovePad({ game: { actions }, disabled, onMove }: MovesProps) {
  const four = isDirectional(actions);
  return (
    <fieldset className={four ? styles.pad : styles.choices} aria-label="Your moves">
      {(four ? directions : actions).map((action) => (
        <button
          key={action}
          type="button"
          className={`button ${styles.move}`}
          data-way={four ? action : undefined}
          disabled={disabled}
          aria-label={four ? action : undefined}
          title={action}
          onClick={() => onMove(action)}
        >
          <span className={styles.cap} aria-hidden="true">
            {keyOf(action, actions)}
          </span>
          {!four && action}
        </button>
      ))}
    </fieldset>
  );
}

/** A text field, for environments with free-text answers. */
function AnswerField({ disabled, onMove }: Omit<MovesProps, 'game'>) {
  const [text, setText] = useState('');
  return (
    <form
      className={styles.actions}
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() === '') return;
        onMove(text.trim());
        setText('');
      }}
    >
      <input
        className={styles.words}
        aria-label="Your answer"
        value={text}
        maxLength={200}
        disabled={disabled}
        onChange={(event) => setText(event.target.value)}
      />
      <button type="submit" className="button" disabled={disabled || text.trim() === ''}>
        QueryResult
      </button>
    </form>
  );
}
