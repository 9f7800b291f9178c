import { formatRoute } from '../base/routes.ts';
import { Icon } from './icon.tsx';

/** Links to the page of a run. */
export function BackToRun({ runId, name }: { runId: string; name: string }) {
  return (
    <a className="back-link" href={formatRoute({ page: 'run', runId })}>
      <Icon name="back" size={14} />
      {name}
    </a>
  );
}
