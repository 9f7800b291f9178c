import { join } from 'node:path';
import { AskedThread } from '../base/asked-thread.ts';
import type { EpisodeTokens } from '../contract/contract.ts';
import type { RolloutPaths } from '../run-directory/rollouts.ts';
import type { readBoards } from './boards.ts';

type Boards = Awaited<ReturnType<typeof readBoards>>;

interface Place {
  folder: string;
  paths: RolloutPaths;
}

export type EpisodesQuestion =
  | ({ name: 'boards'; group: number | undefined } & Place)
  | ({ name: 'tokens'; episodeId: string } & Place);

/** Beside this file in a checkout, and beside the bundle that this file is part of in the app. */
const script = join(
  import.meta.dirname,
  import.meta.filename.endsWith('.ts') ? 'episode-worker.ts' : 'episode-worker.cjs',
);

/** Reads what takes long of rollout files, in a thread of its own. */
export class EpisodeReader {
  private readonly thread = new AskedThread<EpisodesQuestion>(script, 'episodes');

  /** See `readBoards`. */
  boards(folder: string, paths: RolloutPaths, group?: number): Promise<Boards> {
    return this.thread.ask({ name: 'boards', folder, paths, group }) as Promise<Boards>;
  }

  /** See `readTokens`. */
  tokens(folder: string, paths: RolloutPaths, episodeId: string): Promise<EpisodeTokens> {
    return this.thread.ask({ name: 'tokens', folder, paths, episodeId }) as Promise<EpisodeTokens>;
  }

  async close(): Promise<void> {
    await this.thread.close();
  }
}
