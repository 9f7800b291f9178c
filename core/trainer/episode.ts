import { z } from 'zod';
import { episodeTurn } from '../run-directory/episode.ts';
import { LineProcess } from './line-process.ts';

const ids = z.array(z.int());
const startAnswer = z.object({
  /** Ids that end a response. */
  stop_ids: ids,
  prompt: ids,
});
const turnAnswer = z.object({
  turn: episodeTurn,
  /** Reason for the end of the episode; null if it continues. */
  ended: z.string().nullable(),
  /** Ids to read before the next response. */
  context: ids,
  /** Whether they replace all ids that were read before. */
  begins_context: z.boolean(),
});
const textAnswer = z.object({ text: z.string() });

type EpisodeStart = z.infer<typeof startAnswer>;
export type TurnResult = z.infer<typeof turnAnswer>;

/**
 * Episodes served by `starpo-trainer play`: the trainer renders prompts, parses responses and applies the limits of training. Only sampling
 * tokens is left to the caller.
 */
export class EpisodeProcess extends LineProcess {
  /** `label`: label of an environment of the run. */
  constructor(executable: string, runFolder: string, checkpoint: number, label: string, env = process.env) {
    super(executable, ['play', runFolder, '--checkpoint', String(checkpoint), '--on', label], env);
  }

  /** Starts an episode on the n-th validation level. Throws `level_not_found`, `context_too_small` or `trainer_unusable`. */
  async begin(level: number): Promise<EpisodeStart> {
    return startAnswer.parse(await this.ask({ level }));
  }

  /** Ends the turn with a response. */
  async respond(response: readonly number[]): Promise<TurnResult> {
    return turnAnswer.parse(await this.ask({ response }));
  }

  /** Returns the text of a partial response. */
  async text(response: readonly number[]): Promise<string> {
    return textAnswer.parse(await this.ask({ text: response })).text;
  }
}
