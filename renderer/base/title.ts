import { useEffect } from 'react';

/** Sets the window's title; null keeps the current one. */
export function useTitle(title: string | null): void {
  useEffect(() => {
    if (title !== null) document.title = `${title} · StarPO Studio`;
  }, [title]);
}
