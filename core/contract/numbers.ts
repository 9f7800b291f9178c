/** Formats a size in decimal units: `1.23 GB`, `12.0 MB`, `3 kB`. */
export function bytes(count: number): string {
  if (count >= 1e9) return `${(count / 1e9).toFixed(2)} GB`;
  return count >= 1e6 ? `${(count / 1e6).toFixed(1)} MB` : `${Math.ceil(count / 1e3)} kB`;
}

/** Formats a number, small ones in scientific notation: `0.5`, `1e-6`. */
export const scientific = (value: number) =>
  value !== 0 && Math.abs(value) < 0.01 ? value.toExponential().replace(/e([+-]?)0*(\d)/, 'e$1$2') : String(value);

/** Formats a share in [0, 1]: `35.9 %`; empty if it is undefined. */
export const percent = (share: number | undefined) => (share === undefined ? '' : `${(share * 100).toFixed(1)} %`);

/** Formats a number with its noun: `1 run`, `2 runs`. */
export const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`;
