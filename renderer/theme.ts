import { create } from 'zustand';

export type Theme = 'light' | 'dark';

const storageKey = 'starpo-theme';
const systemDark = () => matchMedia('(prefers-color-scheme: dark)');

function stored(): Theme | null {
  const value = localStorage.getItem(storageKey);
  return value === 'light' || value === 'dark' ? value : null;
}

export const useTheme = create<{ theme: Theme; toggle: () => void }>()((set, get) => ({
  theme: 'light',
  toggle: () => {
    const theme = get().theme === 'dark' ? 'light' : 'dark';
    // A choice that equals the system's is no choice: the page goes on following the system.
    if (theme === (systemDark().matches ? 'dark' : 'light')) localStorage.removeItem(storageKey);
    else localStorage.setItem(storageKey, theme);
    set({ theme });
  },
}));

/** Applies the theme to the document and follows the system while the person has chosen none. */
export function startTheme(): void {
  const follow = () => useTheme.setState({ theme: stored() ?? (systemDark().matches ? 'dark' : 'light') });
  useTheme.subscribe(({ theme }) => {
    document.documentElement.dataset.theme = theme;
  });
  follow();
  document.documentElement.dataset.theme = useTheme.getState().theme;
  systemDark().addEventListener('change', follow);
}
