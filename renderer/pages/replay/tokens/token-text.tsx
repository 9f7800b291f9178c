import { type CSSProperties, type KeyboardEvent, useState } from 'react';
import { inOrder } from '../../../components/in-order.ts';
import { describeToken, type Measure, type Scale, type TokenTurn, withVisibleSpace } from './token-scale.ts';
import styles from './tokens.module.css';

interface TokenTextProps {
  turn: TokenTurn;
  measure: Measure;
  scale: Scale;
}

/**
 * Shows a turn's sampled tokens, colored by a measure. The pointer and the arrow keys show a token's
 * values. Without the run's tokenizer, tokens are shown as numbers.
 */
export function TokenText({ turn, measure, scale }: TokenTextProps) {
  const [pointed, setPointed] = useState<number | null>(null);
  const [focused, setFocused] = useState<number | null>(null);
  const count = turn.logprobs.length;
  const at = pointed ?? focused;

  function move(event: KeyboardEvent): void {
    const from = focused ?? -1;
    const to = { ArrowRight: from + 1, ArrowLeft: from - 1, Home: 0, End: count - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    setFocused(Math.min(count - 1, Math.max(0, to)));
  }

  if (count === 0) return <p className="faint">No sampled tokens.</p>;
  return (
    <div>
      {/* biome-ignore lint/a11y/useSemanticElements: HTML has no element for a text with arrow-key navigation. */}
      <div
        className={`${styles.scale} ${styles.text}`}
        role="group"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys select tokens.
        tabIndex={0}
        data-own-keys
        aria-label={`${count} sampled tokens; use the arrow keys`}
        onKeyDown={move}
        onFocus={() => setFocused((at) => at ?? 0)}
        onBlur={() => setFocused(null)}
        onPointerLeave={() => setPointed(null)}
      >
        {inOrder(turn.logprobs, (_, index) => (
          <span
            className={styles.token}
            data-at={index === at || undefined}
            style={background(scale.strength(turn[measure]?.[index] ?? null))}
            onPointerEnter={() => setPointed(index)}
          >
            {turn.texts ? withVisibleSpace(turn.texts[index] ?? '') : index + 1}
          </span>
        ))}
      </div>
      <p className={`${styles.values} muted small`} role="status">
        {at === null ? (
          <span className="faint">Point at a token for its values, or use the arrow keys.</span>
        ) : (
          <>
            <strong>{turn.texts?.[at] ? `“${withVisibleSpace(turn.texts[at])}”` : `Token ${at + 1}`}</strong>{' '}
            {describeToken(turn, at)}
          </>
        )}
      </p>
    </div>
  );
}

/** Returns the background for a strength in [-1, 1]. */
function background(strength: number): CSSProperties {
  const share = Math.round(Math.min(1, Math.abs(strength)) * 100);
  if (share === 0) return {};
  const end = strength > 0 ? 'var(--token-more)' : 'var(--token-less)';
  return { background: `color-mix(in srgb, ${end} ${share}%, transparent)` };
}
