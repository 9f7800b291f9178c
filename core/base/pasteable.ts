/**
 * Replaces `starpo` in quoted commands of a message with a command that works when pasted into a shell. The launcher sets STARPO_COMMAND if `starpo`
 * is not on the PATH.
 */
export function pasteable(message: string, command = process.env.STARPO_COMMAND || 'starpo'): string {
  return message.replaceAll(/`starpo(?=[ `])/g, () => `\`${command}`);
}
