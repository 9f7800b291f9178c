import { z } from 'zod';
import { runId } from './runs.ts';

/** What a page may have said while its window isn't in front. */
export const notificationText = z.strictObject({
  runId,
  title: z.string().min(1).max(100),
  body: z.string().max(500),
});
export type NotificationText = z.infer<typeof notificationText>;
