import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { Failure, messageOf } from '../contract/failure.ts';
import { type EnvironmentRules, ownEnvironment } from '../contract/own-environments.ts';
import { writeWhole } from '../run-directory/write-whole.ts';

/** An environment that the user has added, as stored in `environments.json` of the data folder. */
const addedEnvironment = ownEnvironment.omit({ confirmed: true, preset: true }).extend({ preset: z.boolean() });
export type AddedEnvironment = z.infer<typeof addedEnvironment>;

const file = z.object({ version: z.literal(1), environments: z.array(addedEnvironment) });
const pathOf = (home: string) => join(home, 'environments.json');

/** Returns the added environments, oldest first. Throws `environments_unreadable` if the file is invalid, because writing it would replace its content. */
export function readAdded(home: string): AddedEnvironment[] {
  const path = pathOf(home);
  if (!existsSync(path)) return [];
  try {
    return file.parse(JSON.parse(readFileSync(path, 'utf8'))).environments;
  } catch (error) {
    const reason = error instanceof z.ZodError ? 'it has another format' : messageOf(error);
    throw new Failure('environments_unreadable', `${path} can't be read: ${reason}.`, 'Repair or delete the file.');
  }
}

export const writeAdded = (home: string, environments: readonly AddedEnvironment[]): void =>
  writeWhole(pathOf(home), { version: 1, environments });

/** Limits of an episode until the user changes them. */
export const initialRules: EnvironmentRules = { max_turns: 5, max_actions_per_turn: 1, max_actions: 5 };
