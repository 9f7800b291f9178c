/** Formats a size in decimal units: `1.23 GB`, `12.0 MB`, `3 kB`. */
export function bytes(count: number): string {
  if (count >= 1e9) return `${(count / 1e9).toFixed(2)} GB`;
  return count >= 1e6 ? `${(count / 1e6).toFixed(1)} MB` : `${Math.ceil(count / 1e3)} kB`;
}
