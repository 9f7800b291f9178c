import { type ReactNode, useEffect, useMemo, useRef } from 'react';
import type { Replay, ReplayTurn } from '../../../core/contract/contract.ts';
import { number, signed } from '../../components/format.ts';
import { inOrder } from '../../components/in-order.ts';
import { ScrollingRegion } from '../../components/scrolling-region.tsx';
import { lettersIn, outcomeAt } from '../../environments/describe.ts';
import { environmentOf } from '../../environments/registry.ts';
import { useCurrentTurn, useReplay } from '../../player/replay-view.tsx';
import { ClaimNote, ClaimText } from './claim-text.tsx';
import { TokenChoice } from './tokens/token-choice.tsx';
import { measureFor, useTokenPreference } from './tokens/token-preference.ts';
import { type Measure, type Scale, scaleOf, type TokenTurn } from './tokens/token-scale.ts';
import { TokenText } from './tokens/token-text.tsx';
import { useTokens } from './tokens/use-tokens.ts';

interface ConversationProps {
  replay: Replay;
  children?: ReactNode;
}

/**
 * Shows the episode's states, reasoning and answers by turn, and scrolls to the current turn. `children`
 * follow below.
 */
export function Conversation({ replay, children }: ConversationProps) {
  const current = useCurrentTurn();
  const scroller = useRef<HTMLElement>(null);
  const evaluation = useReplay((state) => state.evaluation);
  const { chosen, choose } = useTokenPreference();
  const tokens = useTokens(evaluation, replay.summary.id, chosen !== null);
  const measure = measureFor(chosen, tokens);
  const scale = useMemo(() => tokens && measure && scaleOf(tokens, measure), [tokens, measure]);

  useEffect(() => {
    const element = scroller.current;
    const turn = element?.querySelector<HTMLElement>(`[data-turn="${current}"]`);
    if (!element || !turn) return;
    // scrollIntoView would also scroll the page.
    const top = current === 0 ? 0 : turn.offsetTop - 12;
    element.scrollTo({ top, behavior: 'auto' });
  }, [current]);

  return (
    <ScrollingRegion className="conversation" aria-label="Conversation" ref={scroller}>
      <TokenChoice tokens={tokens} measure={measure} onChoose={choose} />
      <details className="prompt">
        <summary>Prompt</summary>
        <pre>{replay.prompt}</pre>
      </details>
      <ol>
        {inOrder(replay.turns, (turn, index) => (
          <Turn
            turn={turn}
            index={index}
            current={index === current}
            replay={replay}
            tokens={measure && scale && tokens?.turns[index] ? { turn: tokens.turns[index], measure, scale } : null}
          />
        ))}
      </ol>
      {children}
    </ScrollingRegion>
  );
}

function Turn({
  turn,
  index,
  current,
  replay,
  tokens,
}: {
  turn: ReplayTurn;
  index: number;
  current: boolean;
  replay: Replay;
  /** Replaces reasoning and answer. */
  tokens: { turn: TokenTurn; measure: Measure; scale: Scale } | null;
}) {
  const { state, response, think, answer, formatValid, reward, penalty, terms, claims, entropyMean, logprobMean } =
    turn;
  const count = turn.tokens;
  return (
    <li
      className="turn"
      data-turn={index}
      data-current={current || undefined}
      aria-current={current ? 'step' : undefined}
    >
      <header>
        <h3>Turn {index + 1}</h3>
        {!formatValid && (
          <span className="tag" data-kind="bad">
            invalid format
          </span>
        )}
        <span className="spacer" />
        {penalty !== 0 && (
          <span className="tag" data-kind="bad">
            penalty {signed(penalty)}
          </span>
        )}
        {(reward !== 0 || penalty === 0) && (
          <span className="tag" data-kind={reward > 0 ? 'good' : undefined}>
            reward {signed(reward)}
          </span>
        )}
        {terms.map(({ title, value }) => (
          <span key={title} className="tag" data-kind={value > 0 ? 'good' : 'bad'}>
            {title.toLowerCase()} {signed(value)}
          </span>
        ))}
      </header>
      {state.trim() !== '' && (
        <Block name="State" kind="state" note={stateNote(turn, index, replay)}>
          {state}
        </Block>
      )}
      {tokens && (
        <Block name="Response tokens" kind="tokens">
          <TokenText {...tokens} />
        </Block>
      )}
      {!tokens && think !== null && (
        <Block name="Reasoning" kind="think" note={claims ? <ClaimNote think={think} claims={claims} /> : ''}>
          {think.trim() === '' ? (
            <span className="faint">empty</span>
          ) : (
            <ClaimText think={think} claims={claims?.false ?? []} />
          )}
        </Block>
      )}
      {!tokens && answer !== null && (
        <Block name="Answer" kind="answer">
          {answer.trim() || <span className="faint">empty</span>}
        </Block>
      )}
      {!tokens && !formatValid && (
        <Block name="Raw response" kind="raw">
          {response}
        </Block>
      )}
      <Actions turn={turn} index={index} replay={replay} />
      <p className="turn-foot faint">
        {count} {count === 1 ? 'token' : 'tokens'} · entropy {number(entropyMean)} · log-prob {number(logprobMean)}
      </p>
    </li>
  );
}

interface BlockProps {
  name: string;
  kind: string;
  /** Text below. */
  note?: ReactNode;
  children: ReactNode;
}

function Block({ name, kind, note, children }: BlockProps) {
  return (
    <div className="block" data-kind={kind}>
      <h4>{name}</h4>
      <div className="block-text">{children}</div>
      {note && <div className="faint small">{note}</div>}
    </div>
  );
}

/** Explains a state: the letters of its grid, tokens of it that the model didn't read, and whether it begins a new context. */
function stateNote({ state, omittedTokens, beginsContext }: ReplayTurn, index: number, replay: Replay): string {
  const letters = index === 0 ? lettersIn(state, environmentOf(replay.type).letters) : '';
  const omitted =
    omittedTokens > 0
      ? `The model did not read ${omittedTokens} ${omittedTokens === 1 ? 'token' : 'tokens'} in the middle, because of max_state_tokens.`
      : '';
  const context = beginsContext
    ? 'This turn begins a new context (rollout.context_turns): the model did not read the oldest turns.'
    : '';
  return [letters, omitted, context].filter(Boolean).join(' ');
}

/** Shows the actions of the answer. Actions that were not executed are struck through. */
function Actions({ turn, index, replay }: { turn: ReplayTurn; index: number; replay: Replay }) {
  const { frames } = replay;
  const position = useReplay((state) => state.player.index);
  const seek = useReplay((state) => state.act);
  if (turn.actions.length === 0) return <p className="no-action">No valid action in this response.</p>;
  return (
    <ul className="actions" aria-label="Actions">
      {inOrder(turn.actions, (action, step) => {
        const at = frames.findIndex((frame) => frame.turn === index && frame.step === step && frame.action !== null);
        return (
          <li>
            {at < 0 ? (
              <span className="action" data-tone="dropped" title="Not executed">
                <s>{action}</s>
                <span className="visually-hidden"> (not executed)</span>
              </span>
            ) : (
              <button
                type="button"
                className="action"
                data-tone={outcomeAt(replay, at).tone}
                data-lost={frames[at]!.deadEnd || undefined}
                aria-current={at === position ? 'step' : undefined}
                data-done={at <= position || undefined}
                onClick={() => seek({ type: 'seek', index: at })}
              >
                {action}
                {frames[at]!.slipped && <span className="slip-word"> slipped</span>}
              </button>
            )}
          </li>
        );
      })}
    </ul>
  );
}
