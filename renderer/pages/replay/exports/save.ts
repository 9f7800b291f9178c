/** Hands a file to the person, as a download. */
export function saveFile(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // The download has begun by then.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** `lake-4d31 000010-train-0003.gif`, without what a file's name can't have. */
export const fileName = (run: string, episode: string, ending: string) =>
  `${`${run} ${episode}`.replace(/[^\p{L}\p{N} ._-]+/gu, '-').slice(0, 120)}.${ending}`;
