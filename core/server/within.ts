/** Resolves when the work has settled, also if it failed, or after `limit` ms. */
export async function within(limit: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, limit);
  });
  await Promise.race([work.catch(() => {}), late]);
  clearTimeout(timer);
}
