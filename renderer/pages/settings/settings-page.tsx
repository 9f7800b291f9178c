import { type ThemeChoice, useTheme } from '../../base/theme.ts';
import { useTitle } from '../../base/title.ts';
import { Button } from '../../components/basics.tsx';
import { Section } from '../../components/section.tsx';
import { useNotifications } from '../../notifications/notifications.ts';
import { NotifyChoice } from '../../notifications/notify-choice.tsx';
import { useDialogs } from '../../stores/dialogs-store.ts';
import { useKeyPreference } from '../../stores/key-preference.ts';
import { Clusters } from './clusters.tsx';
import { DataFolder } from './data-folder.tsx';
import styles from './settings.module.css';
import { TensorBoard } from './tensor-board.tsx';

/** Shows the user's preferences and the settings of the data folder. */
export function SettingsPage() {
  useTitle('Settings');
  return (
    <div className="page" data-narrow>
      <header className="page-head">
        <div>
          <h1>Settings</h1>
          <p className="muted">Preferences of this browser or app, and settings of the data folder.</p>
        </div>
      </header>
      <Appearance />
      <Notifications />
      <Keyboard />
      <DataFolder />
      <Clusters />
      <TensorBoard />
    </div>
  );
}

const themes: [ThemeChoice, string][] = [
  ['system', 'System'],
  ['light', 'Light'],
  ['dark', 'Dark'],
];

function Appearance() {
  const { choice, choose } = useTheme();
  return (
    <Section title="Appearance">
      <div className={styles.preference}>
        <span id="theme-label">Theme</span>
        <fieldset className="segments" aria-labelledby="theme-label">
          {themes.map(([theme, word]) => (
            <button key={theme} type="button" aria-pressed={choice === theme} onClick={() => choose(theme)}>
              {word}
            </button>
          ))}
        </fieldset>
      </div>
    </Section>
  );
}

function Notifications() {
  const permission = useNotifications((state) => state.permission);
  if (permission === 'unsupported') return null;
  return (
    <Section title="Notifications">
      <div className={styles.preference}>
        <span>Desktop notifications</span>
        {permission === 'blocked' ? (
          <p className="muted">Notifications are blocked. Allow them for this page in the browser.</p>
        ) : (
          <NotifyChoice />
        )}
      </div>
    </Section>
  );
}

function Keyboard() {
  const { singleKeys, setSingleKeys } = useKeyPreference();
  return (
    <Section
      title="Keyboard"
      action={
        <Button kind="quiet" onClick={() => useDialogs.getState().openDialog({ kind: 'keys' })}>
          Show all shortcuts
        </Button>
      }
    >
      <label className={`${styles.switch} row`}>
        <input type="checkbox" checked={singleKeys} onChange={({ target }) => setSingleKeys(target.checked)} />
        Single-key shortcuts
      </label>
      <p className="muted">For example, N configures a new run. Turn them off if you use speech input.</p>
    </Section>
  );
}
