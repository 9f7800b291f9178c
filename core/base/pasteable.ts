/** Returns the shell command that runs the command line. The launcher sets STARPO_COMMAND to another command if `starpo` is not on the PATH. */
export const commandName = () => process.env.STARPO_COMMAND || 'starpo';

/** Replaces `starpo` in the quoted commands of a message with a command that works when pasted into a shell. */
export const pasteable = (message: string, command = commandName()): string =>
  message.replaceAll(/`starpo(?=[ `])/g, () => `\`${command}`);
