import type { ReplayTurn } from '../../../core/contract/contract.ts';
import { inOrder } from '../../components/in-order.ts';
import styles from './claim-text.module.css';

type Claims = NonNullable<ReplayTurn['claims']>;

/** Underlines the false claims of a reasoning text. Screen readers read "(false)" after each. */
export function ClaimText({ think, claims }: { think: string; claims: Claims['false'] }) {
  return inOrder(partsOf(think, claims), ({ text, isFalse }) =>
    isFalse ? (
      <mark className={styles.false}>
        {text}
        <span className="visually-hidden"> (false)</span>
      </mark>
    ) : (
      text
    ),
  );
}

/** States how many claims are true, and what holds instead of each false one. */
export function ClaimNote({ think, claims }: { think: string; claims: Claims }) {
  const { checked } = claims;
  const wrong = claims.false.length;
  const claim = checked === 1 ? 'claim' : 'claims';
  if (wrong === 0) return <p>{checked === 1 ? 'The checked claim is' : `All ${checked} checked claims are`} true.</p>;
  return (
    <>
      <p>
        {checked - wrong} of {checked} checked {claim} {checked - wrong === 1 ? 'is' : 'are'} true.
      </p>
      <ul className={styles.facts} aria-label="False claims">
        {inOrder(claims.false, ({ start, end, fact }) => (
          <li>
            “{think.slice(start, end)}”: {fact}
          </li>
        ))}
      </ul>
    </>
  );
}

/** Splits a string at the starts and ends of claims. Text that overlapping claims share appears once. */
export function partsOf(think: string, claims: Claims['false']): { text: string; isFalse: boolean }[] {
  const parts: { text: string; isFalse: boolean }[] = [];
  let at = 0;
  const add = (end: number, isFalse: boolean) => {
    if (end > at) parts.push({ text: think.slice(at, end), isFalse });
    at = Math.max(at, end);
  };
  for (const { start, end } of claims.toSorted((a, b) => a.start - b.start)) {
    add(start, false);
    add(Math.min(end, think.length), true);
  }
  add(think.length, false);
  return parts;
}
