import { type CSSProperties, type KeyboardEvent, useState } from 'react';
import { inOrder } from '../../../components/in-order.ts';
import { describeToken, type Measure, type Scale, type TokenTurn, visible } from './token-scale.ts';
import styles from './tokens.module.css';

interface TokenTextProps {
  turn: TokenTurn;
  measure: Measure;
  scale: Scale;
}

/**
 * Shows a turn's sampled tokens, coloured by a measure. The pointer and the arrow keys show a token's
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
      {/* biome-ignore lint/a11y/useSemanticElements: no element of HTML is a text that the arrow keys go through. */}
      <div
        className={`${styles.scale} ${styles.text}`}
        role="group"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it is used by the keyboard: the arrow keys go from token to token.
        tabIndex={0}
        data-own-keys
        aria-label={`${count} sampled tokens; use the arrow keys`}
        onKeyDown={move}
        onFocus={() => setFocused((at) => at ?? 0)}
        onBlur={() => setFocused(null)}
        onPointerLeave={() => setPointed(null)}
      >
        {inOrder(turn.logprobs, (_, place) => (
          <span
            className={styles.token}
            data-at={place === at || undefined}
            style={colour(scale.strength(turn[measure]?.[place] ?? null))}
            onPointerEnter={() => setPointed(place)}
          >
            {turn.texts ? visible(turn.texts[place] ?? '') : place + 1}
          </span>
        ))}
      </div>
      <p className={styles.values} role="status">
        {at !== null && (
          <>
            <strong>{turn.texts?.[at] ? `“${visible(turn.texts[at])}”` : `Token ${at + 1}`}</strong>{' '}
            {describeToken(turn, at)}
          </>
        )}
      </p>
    </div>
  );
}

/** Limited, so that the text stays readable. */
function colour(strength: number): CSSProperties {
  const share = Math.round(Math.min(1, Math.abs(strength)) * 100);
  if (share === 0) return {};
  const end = strength > 0 ? 'var(--token-more)' : 'var(--token-less)';
  return { background: `color-mix(in srgb, ${end} ${share}%, transparent)` };
}
