import type { Handlers } from '../contract/contract.ts';
import type { Games } from './games.ts';

/** What the procedures of the API's part `play` do for one client. */
export function playHandlers(
  games: Games,
  client: object,
): Pick<Handlers, keyof Handlers & `play.${string}`> {
  return {
    'play.choices': ({ runId }) => games.choices(runId),
    'play.open': (wish) => games.open(client, wish),
    'play.get': ({ gameId }) => games.find(gameId).state,
    'play.agent': ({ gameId, temperature }) => games.find(gameId).letAgentPlay(temperature),
    'play.stop': ({ gameId }) => games.find(gameId).stopAgent(),
    'play.move': ({ gameId, action, temperature }) => games.find(gameId).move(action, temperature),
    'play.restart': ({ gameId }) => games.find(gameId).restart(),
    'play.level': ({ gameId, level }) => games.find(gameId).goTo(level),
    'play.checkpoint': ({ gameId, checkpoint }) => games.choose(gameId, checkpoint),
    'play.close': async ({ gameId }) => {
      await games.end(gameId);
      return {};
    },
  };
}
