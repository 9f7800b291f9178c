/** Parses Slurm's time limit, such as `90` (minutes), `4:00:00`, `1-12` or `1-12:00:00`, into seconds. */
export function limitSeconds(time: string): number {
  const [days, rest] = time.includes('-') ? time.split('-') : ['', time];
  const parts = rest!.split(':').map(Number);
  // With days, the first part is hours. Without, one part is minutes and two are minutes and seconds.
  const [hours = 0, minutes = 0, seconds = 0] = days || parts.length === 3 ? parts : [0, ...parts];
  return ((Number(days) * 24 + hours) * 60 + minutes) * 60 + seconds;
}
