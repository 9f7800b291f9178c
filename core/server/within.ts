/** Settles when some work has, however it went, or after a number of milliseconds. */
export async function within(limit: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, limit);
  });
  await Promise.race([work.catch(() => {}), late]);
  clearTimeout(timer);
}
