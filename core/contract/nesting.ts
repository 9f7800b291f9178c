/** Maximum depth; a configuration has about six levels. */
const maxDepth = 32;

/** Returns whether a value is nested so deeply that recursion could exhaust the stack. */
export function isNestedTooDeeply(value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxDepth) return true;
    level = level.flatMap((each) => (typeof each === 'object' && each !== null ? Object.values(each) : []));
  }
  return false;
}
