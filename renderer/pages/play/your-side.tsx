import { useState } from 'react';
import type { Game } from '../../../core/contract/contract.ts';
import { Button } from '../../components/basics.tsx';
import { directions, isDirectional, keyOf } from './keys.ts';
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
  const { you, maxMoves } = game;
  const over = you.state === 'over';
  return (
    <section className={`panel ${styles.side} column`} aria-labelledby="play-you">
      <header className={`${styles.head} wrap`}>
        <h2 id="play-you">You</h2>
        <span className="faint">
          {you.movesLeft} of {maxMoves} actions left
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
        <ActionPad game={game} disabled={over} onAction={onAction} />
      ) : (
        <AnswerField disabled={over} onAction={onAction} />
      )}
      <p className="faint">
        {isDirectional(game.actions) && 'Use the arrow keys to move. '}
        {maxMoves > 1 && 'You see the result of each action; the agent plans several per turn. '}
        Only your first attempt counts.
      </p>
    </section>
  );
}

interface ActionProps {
  game: Game;
  disabled: boolean;
  onAction: (action: string) => void;
}

/** Shows one button per action. The four directions are arranged like arrow keys. */
function ActionPad({ game: { actions }, disabled, onAction }: ActionProps) {
  const four = isDirectional(actions);
  return (
    <fieldset className={four ? styles.pad : styles.choices} aria-label="Your actions">
      {(four ? directions : actions).map((action) => (
        <button
          key={action}
          type="button"
          className={`button ${styles.move}`}
          data-way={four ? action : undefined}
          disabled={disabled}
          aria-label={four ? action : undefined}
          title={action}
          onClick={() => onAction(action)}
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

/** Shows a text field for environments with free-text actions. */
function AnswerField({ disabled, onAction }: Omit<ActionProps, 'game'>) {
  const [text, setText] = useState('');
  return (
    <form
      className={styles.actions}
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() === '') return;
        onAction(text.trim());
        setText('');
      }}
    >
      <input
        className={styles.answerField}
        aria-label="Your answer"
        value={text}
        maxLength={200}
        disabled={disabled}
        onChange={(event) => setText(event.target.value)}
      />
      <button type="submit" className="button" disabled={disabled || text.trim() === ''}>
        Answer
      </button>
    </form>
  );
}
