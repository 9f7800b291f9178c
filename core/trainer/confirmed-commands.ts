import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { type OwnCommand, ownCommand } from '../contract/contract.ts';
import { Failure } from '../contract/failure.ts';
import type { RunConfig } from '../run-config/schema.ts';
import { writeWhole } from '../run-directory/write-whole.ts';

const file = z.object({ version: z.literal(1), commands: z.array(ownCommand.extend({ digest: z.string() })) });

/** Returns the digest under which consent is stored. The trainer computes the same (docs/formats/process-environment.md). */
export const commandDigest = ({ command, directory }: OwnCommand): string =>
  createHash('sha256').update(`${directory}\n${command}`).digest('hex');

/** The parts of a configuration that can have commands. `reward`: null if episodes are not scored. */
type WithCommands = Pick<RunConfig, 'environments'> & { reward: Pick<RunConfig['reward'], 'program'> | null };

/** Returns the commands of a configuration's environments and of its reward program. */
export const ownCommands = ({ environments, reward }: WithCommands): OwnCommand[] => [
  ...environments.filter(({ type }) => type === 'process').map(({ config }) => ownCommand.parse(config)),
  ...(reward?.program.command ? [ownCommand.parse(reward.program)] : []),
];

/**
 * The commands that the user has confirmed, in `commands.json` of the data folder. Run folders, bundles and configurations can't
 * add to it.
 */
export class ConfirmedCommands {
  private readonly path: string;

  constructor(home: string) {
    this.path = join(home, 'commands.json');
  }

  /** Returns digests of the confirmed commands. An invalid file confirms nothing. */
  digests(): string[] {
    return this.read().map(commandDigest);
  }

  confirm({ command, directory }: OwnCommand): void {
    const digest = commandDigest({ command, directory });
    const commands = this.read();
    if (commands.some((each) => commandDigest(each) === digest)) return;
    const entries = [...commands, { command, directory }].map((each) => ({ ...each, digest: commandDigest(each) }));
    writeWhole(this.path, { version: 1, commands: entries });
  }

  /** Throws `command_not_confirmed` for the first command that the user has not confirmed. */
  require(config: WithCommands): void {
    const digests = this.digests();
    const unconfirmed = ownCommands(config).find((each) => !digests.includes(commandDigest(each)));
    if (unconfirmed) throw commandNotConfirmed(unconfirmed);
  }

  private read(): OwnCommand[] {
    try {
      const { commands } = file.parse(JSON.parse(readFileSync(this.path, 'utf8')));
      return commands.map(({ command, directory }) => ({ command, directory }));
    } catch {
      return [];
    }
  }
}

const commandNotConfirmed = ({ command, directory }: OwnCommand) =>
  new Failure(
    'command_not_confirmed',
    `The command "${command}" in ${directory} was not confirmed.`,
    'Confirm it in the app, or run `starpo env allow` with this command in this folder. Run only commands that you trust.',
    { command, directory },
  );
