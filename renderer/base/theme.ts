import { create } from 'zustand';

export type Theme = 'light' | 'dark';
export type ThemeChoice = Theme | 'system';

const storageKey = 'starpo-theme';
const systemDark = () => matchMedia('(prefers-color-scheme: dark)');
const systemTheme = (): Theme => (systemDark().matches ? 'dark' : 'light');

function stored(): ThemeChoice {
  const value = localStorage.getItem(storageKey);
  return value === 'light' || value === 'dark' ? value : 'system';
}

interface ThemeState {
  theme: Theme;
  choice: ThemeChoice;
  choose: (choice: ThemeChoice) => void;
  toggle: () => void;
}

export const useTheme = create<ThemeState>()((set, get) => ({
  theme: 'light',
  choice: 'system',
  choose: (choice) => {
    if (choice === 'system') localStorage.removeItem(storageKey);
    else localStorage.setItem(storageKey, choice);
    set({ choice, theme: choice === 'system' ? systemTheme() : choice });
  },
  toggle: () => {
    const theme = get().theme === 'dark' ? 'light' : 'dark';
    // If the choice equals the system theme, keep following the system.
    get().choose(theme === systemTheme() ? 'system' : theme);
  },
}));

/** Applies the theme to the document and follows the system theme unless the user has chosen one. */
export function startTheme(): void {
  const update = () => {
    const choice = stored();
    useTheme.setState({ choice, theme: choice === 'system' ? systemTheme() : choice });
  };
  useTheme.subscribe(({ theme }) => {
    document.documentElement.dataset.theme = theme;
  });
  update();
  document.documentElement.dataset.theme = useTheme.getState().theme;
  systemDark().addEventListener('change', update);
}
