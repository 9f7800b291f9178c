import { useEffect } from 'react';
import { create } from 'zustand';

/** A search that another part of the app can request from a page. */
type SearchField = 'settings' | 'charts' | 'tag';

/** Requested search texts, which the page applies when it is shown. */
const useRequests = create<Record<SearchField, string | null>>()(() => ({
  settings: null,
  charts: null,
  tag: null,
}));

export const requestSearch = (field: SearchField, text: string): void => useRequests.setState({ [field]: text });

/** Calls `apply` with a requested search text, once. */
export function useSearchRequest(field: SearchField, apply: (text: string) => void): void {
  const requested = useRequests((state) => state[field]);
  useEffect(() => {
    if (requested === null) return;
    useRequests.setState({ [field]: null });
    apply(requested);
  }, [requested, field, apply]);
}
