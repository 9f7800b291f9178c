import type { HandGame, OwnCommand } from '../contract/contract.ts';
import { Failure } from '../contract/failure.ts';
import { HandPlay } from './hand-play.ts';
import { type EnvironmentProgram, type Hello, startProgram } from './program.ts';

interface Played {
  environmentId: string;
  program: EnvironmentProgram;
  hello: Hello;
  play: HandPlay;
}

/** Episodes that users play by hand, one per client. A program is used for all episodes in a row. */
export class HandGames {
  private readonly played = new Map<object, Played>();
  private readonly disconnected = new WeakSet<object>();

  /** Starts an episode, and ends the client's previous one. Throws `environment_failed`. */
  async play(client: object, { id, ...own }: OwnCommand & { id: string }, seed: number): Promise<HandGame> {
    const before = this.played.get(client);
    const reused = before?.environmentId === id && before.program.running ? before : null;
    if (!reused) this.release(client);
    const { program, hello } = reused ?? (await startProgram(own));
    try {
      const play = await HandPlay.begin(program, hello, seed);
      if (this.disconnected.has(client)) throw gameUnknown();
      if (this.played.get(client)?.program !== program) this.release(client);
      this.played.set(client, { environmentId: id, program, hello, play });
      return { ...play.state, environmentId: id };
    } catch (error) {
      program.kill();
      throw error;
    }
  }

  /** Executes the user's action. Throws as `environments.act` of the API does. */
  async act(client: object, gameId: string, action: string): Promise<HandGame> {
    const played = this.played.get(client);
    if (played?.play.id !== gameId) throw gameUnknown();
    await played.play.act(action);
    return { ...played.play.state, environmentId: played.environmentId };
  }

  leave(client: object, gameId: string): void {
    if (this.played.get(client)?.play.id === gameId) this.release(client);
  }

  /** Ends the episode of a client that disconnected. */
  disconnect(client: object): void {
    this.disconnected.add(client);
    this.release(client);
  }

  /** Ends all episodes of an environment. */
  end(environmentId: string): void {
    for (const [client, played] of this.played) if (played.environmentId === environmentId) this.release(client);
  }

  close(): void {
    for (const client of this.played.keys()) this.release(client);
  }

  private release(client: object): void {
    this.played.get(client)?.program.kill();
    this.played.delete(client);
  }
}

const gameUnknown = () => new Failure('game_unknown', 'The episode has ended.', 'Start a new episode.');
