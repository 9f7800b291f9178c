/** Decoded images of boards, for canvases. */

/** Maximum number of decoded images in memory. */
const maxImages = 512;

/** By URL, least recently used first. */
const images = new Map<string, HTMLImageElement>();
const listeners = new Set<() => void>();

/** Returns an image once it is decoded; until then null, and the listeners are called when it is. An invalid image stays null. */
export function decodedImage(url: string): HTMLImageElement | null {
  const image = images.get(url) ?? load(url);
  images.delete(url);
  images.set(url, image);
  return image.complete && image.naturalWidth > 0 ? image : null;
}

function load(url: string): HTMLImageElement {
  const image = new Image();
  image.onload = () => {
    for (const listener of listeners) listener();
  };
  image.src = url;
  for (const oldest of images.keys()) {
    if (images.size < maxImages) break;
    images.delete(oldest);
  }
  return image;
}

/** Calls a listener after each decoded image. Returns a function that stops it. */
export function onImageDecoded(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Decodes images before they are drawn into a file. Invalid images are left out. */
export async function decodeImages(urls: readonly string[]): Promise<void> {
  await Promise.all(
    urls.map(async (url) => {
      decodedImage(url);
      await images
        .get(url)
        ?.decode()
        .catch(() => {});
    }),
  );
}
