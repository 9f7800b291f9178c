/** A configuration has half a dozen levels. */
const deepest = 32;

/** Whether a value is nested too deeply for a configuration, so that walking through it could exhaust the stack. */
export function isNestedTooDeeply(value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > deepest) return true;
    level = level.flatMap((each) => (typeof each === 'object' && each !== null ? Object.values(each) : []));
  }
  return false;
}
