import type { Handlers } from '../contract/contract.ts';
import type { Games } from './games.ts';

/** Returns the handlers of the `play` procedures for one client. */
export function playHandlers(
  games: Games,
  client: object,
): Pick<Handlers, keyof Handlers & `play.${string}`> {
  return {
    'play.choices': ({ runId }) => games.choices(runId),
    'play.open': (request) => games.open(client, request),
    'play.get': ({ gameId }) => games.find(gameId).state,
    'play.agent': ({ gameId, temperature }) => games.find(gameId).startAgent(temperature),
    'play.stop': ({ gameId }) => games.find(gameId).stopAgent(),
    'play.move': ({ gameId, action, temperature }) => games.find(gameId).move(action, temperature),
    'play.restart': ({ gameId }) => games.find(gameId).restart(),
    'play.level': ({ gameId, level }) => games.find(gameId).setLevel(level),
    'play.checkpoint': ({ gameId, checkpoint }) => games.setCheckpoint(gameId, checkpoint),
    'play.close': ({ gameId }) => games.end(gameId),
  };
}
