import type { PlayTurn } from '../contract/contract.ts';
import type { EnvironmentConfig, RunConfig } from '../run-config/schema.ts';
import type { ReplyRules } from './conversation.ts';
import type { PolicyThread } from './policy-thread.ts';
import { fillPrompt, pythonNumber } from './prompt.ts';
import { parseReply } from './reply.ts';
import type { Seat } from './seat.ts';

/** What training makes of an episode, and this with it. */
export interface EpisodeRules {
  environment: EnvironmentConfig;
  rollout: RunConfig['rollout'];
  /** For a turn whose reply can't be read, or names no move. */
  penalty: number;
}

interface Listener {
  /** The reply so far. */
  text(text: string): void;
  /** A turn is over, its moves made. */
  turn(turn: PlayTurn): void;
}

/** The reward of a turn, for the next prompt. */
interface TurnReward {
  sum: number;
  integer: boolean;
}

/** Plays a level to its end as in training, with the same prompts, parsing and limits. `living` is called after each turn and decides whether to continue. */
export async function playEpisode(
  policy: PolicyThread,
  seat: Seat,
  rules: EpisodeRules,
  temperature: number,
  told: Listener,
  living: () => boolean,
): Promise<void> {
  const { environment, rollout } = rules;
  const { max_turns: maxTurns, prompt } = environment;
  let last: TurnReward = { sum: 0, integer: true };
  for (let turn = 0; living() && !seat.over; turn += 1) {
    if (turn === maxTurns) return seat.end('max_turns');
    const values = placeholders(seat, rules, turn, last);
    const message = {
      system: prompt.system,
      user: fillPrompt(turn === 0 ? prompt.first : prompt.next, values),
    };
    const reply = await policy.reply(message, replyRules(rollout, temperature), {
      first: turn === 0,
      told: told.text,
    });
    if (!living()) return;
    if (reply === null) return seat.end('context');
    const parsed = parseReply(reply.text, rollout.think);
    const actions = seat.actions.length === 0 && parsed.answer ? [parsed.answer] : parsed.actions;
    last = await makeMoves(seat, actions, turn, rules, living);
    const { think, answer, formatValid } = parsed;
    const { text: response, tokens, cut } = reply;
    told.turn({ response, think, answer, actions, formatValid, tokens, cut });
  }
}

/** Moves beyond the turn's limit are ignored, unknown ones dropped; a dropped or missing one costs the penalty once. */
async function makeMoves(
  seat: Seat,
  actions: readonly string[],
  turn: number,
  { environment, penalty }: EpisodeRules,
  living: () => boolean,
): Promise<TurnReward> {
  const wanted = actions.slice(0, environment.max_actions_per_turn);
  const valid = wanted.flatMap((action) => seat.moveOf(action) ?? []);
  const reward: TurnReward = { sum: 0, integer: true };
  for (const [step, action] of valid.entries()) {
    if (!living() || seat.over) break;
    const outcome = await seat.step(action, turn, step);
    reward.sum += outcome.reward;
    reward.integer &&= outcome.integer;
  }
  const flawless = valid.length > 0 && valid.length === wanted.length;
  seat.endTurn(turn, flawless ? 0 : penalty);
  return reward;
}

/** docs/formats/run-config.md, Prompts. */
function placeholders(
  seat: Seat,
  { environment, rollout }: EpisodeRules,
  turn: number,
  last: TurnReward,
): Record<string, string> {
  const arms = (seat.arms ?? []).map((arm, index) => [`arm_${index + 1}`, arm]);
  return {
    state: seat.observation,
    reward: pythonNumber(last.sum, last.integer),
    turn: String(turn + 1),
    actions_left: String(seat.side.movesLeft),
    max_actions: String(environment.max_actions_per_turn),
    max_tokens: String(rollout.max_response_tokens),
    actions: seat.actions.join(', '),
    ...Object.fromEntries(arms),
  };
}

function replyRules(rollout: RunConfig['rollout'], temperature: number): ReplyRules {
  return {
    think: rollout.think,
    maxTokens: rollout.max_response_tokens,
    context: rollout.context,
    temperature,
    topK: rollout.top_k,
    topP: rollout.top_p,
    minP: rollout.min_p,
  };
}
