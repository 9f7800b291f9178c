/** Returns a JSON object from localStorage; empty if it is missing or invalid. Its values may have been written by another version. */
export function storedObject(key: string): Record<string, unknown> {
  try {
    const stored = JSON.parse(localStorage.getItem(key) ?? '{}');
    return typeof stored === 'object' && stored !== null ? stored : {};
  } catch {
    return {};
  }
}
