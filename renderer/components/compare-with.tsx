import { formatRoute } from '../base/routes.ts';
import { Icon } from './icon.tsx';

/** Opens Compare, where other runs can be ticked. */
export const CompareWith = ({ runId }: { runId: string }) => (
  <a className="button" href={formatRoute({ page: 'compare', runIds: [runId] })}>
    <Icon name="compare" size={14} />
    Compare with…
  </a>
);
