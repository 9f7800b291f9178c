/** Length limit of each part in characters, of up to four bytes. File systems allow 255 bytes per name. */
const maxLength = 50;

/** Returns a string as words joined by hyphens, without characters that are special in a file system or a shell. */
function fileWords(text: string): string {
  const words = text.replace(/[^\p{L}\p{M}\p{N}._]+/gu, '-');
  return [...words]
    .slice(0, maxLength)
    .join('')
    .replace(/^[-.]+|[-.]+$/g, '');
}

/** Returns the file name of an export: the name of the run or sweep, what the file is, and its extension: `FrozenLake-b7e8-metrics.csv`. */
export const exportFileName = (name: string, what: string, extension: string): string =>
  `${[name, what].map(fileWords).filter(Boolean).join('-')}.${extension}`;
