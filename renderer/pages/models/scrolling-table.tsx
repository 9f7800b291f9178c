import type { ReactNode } from 'react';
import { ScrollingRegion } from '../../components/scrolling-region.tsx';

/** Shows a table in a panel that scrolls sideways, also by keyboard. */
export function ScrollingTable({ labelledBy, children }: { labelledBy: string; children: ReactNode }) {
  return (
    <ScrollingRegion className="panel table-panel" aria-labelledby={labelledBy}>
      <table className="table" aria-labelledby={labelledBy}>
        {children}
      </table>
    </ScrollingRegion>
  );
}
