import { availableParallelism, freemem, totalmem } from 'node:os';

/** The limits of a container or job (cgroups, processor affinity), which may be lower than the machine's. The trainer applies the same limits. */

/** Returns the number of threads that can run at a time. */
export const availableCores = (): number => availableParallelism();

/** Returns the total and the used memory in bytes. */
export function memory({ limit = process.constrainedMemory(), available = process.availableMemory() } = {}): {
  total: number;
  used: number;
} {
  const machine = totalmem();
  // Without a limit, Node returns 0 or a number above the machine's memory.
  if (limit <= 0 || limit >= machine) return { total: machine, used: machine - freemem() };
  return { total: limit, used: Math.max(0, limit - available) };
}
