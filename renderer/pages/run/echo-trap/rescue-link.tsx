import { formatRoute } from '../../../base/routes.ts';

/** Links to the rescue of a run that was rolled back. */
export const RescueLink = ({ runId }: { runId: string }) => (
  <a href={formatRoute({ page: 'rescue', runId })}>Show rescue</a>
);
