/**
 * The app's commands, for the palette, shortcuts and menu bar. The page decides which are available and runs them.
 * In `keys`, `Mod` is Ctrl, or Cmd on a Mac. Keys of `Run` without Mod work on the run's page.
 */
export interface CommandFacts {
  title: string;
  menu: 'Go' | 'Run' | 'App';
  keys?: string;
}

export const commands = {
  'go.start': { title: 'Start a run', menu: 'Go', keys: 'Mod+1' },
  'go.queue': { title: 'Queue', menu: 'Go', keys: 'Mod+2' },
  'go.history': { title: 'History', menu: 'Go', keys: 'Mod+3' },
  'go.studies': { title: 'Sweeps', menu: 'Go', keys: 'Mod+4' },
  'go.compare': { title: 'Compare runs', menu: 'Go', keys: 'Mod+5' },
  'go.play': { title: 'Play against an agent', menu: 'Go', keys: 'Mod+6' },
  'go.models': { title: 'Models', menu: 'Go', keys: 'Mod+7' },
  'go.environments': { title: 'Environments', menu: 'Go' },
  'go.system': { title: 'System and checks', menu: 'Go', keys: 'Mod+8' },
  'go.settings': { title: 'Settings', menu: 'Go', keys: 'Mod+,' },
  'go.new': { title: 'Configure a new run', menu: 'Go', keys: 'N' },
  'go.episodes': { title: 'Search episode text', menu: 'Go', keys: 'Mod+Shift+F' },
  'go.trash': { title: 'Deleted runs', menu: 'Go' },
  'run.start': { title: 'Start or resume', menu: 'Run', keys: 'Mod+Enter' },
  'run.submit': { title: 'Submit to a cluster…', menu: 'Run' },
  'run.pause': { title: 'Pause', menu: 'Run', keys: 'P' },
  'run.checkpoint': { title: 'Save a checkpoint', menu: 'Run' },
  'run.stop': { title: 'Stop…', menu: 'Run', keys: 'Mod+.' },
  'run.page': { title: 'Open the run', menu: 'Run' },
  'run.replay': { title: 'Replay episodes', menu: 'Run' },
  'run.thoughts': { title: 'Reasoning tree', menu: 'Run' },
  'run.play': { title: 'Play against this agent', menu: 'Run' },
  'run.exports': { title: 'Export for other programs', menu: 'Run' },
  'run.star': { title: 'Star / unstar', menu: 'Run', keys: 'S' },
  'run.rename': { title: 'Rename…', menu: 'Run', keys: 'R' },
  'run.tag': { title: 'Tag…', menu: 'Run', keys: 'T' },
  'run.more': { title: 'Train more…', menu: 'Run', keys: 'M' },
  'run.fork': { title: 'Fork from a checkpoint…', menu: 'Run', keys: 'F' },
  'run.evaluate': { title: 'Evaluate a checkpoint…', menu: 'Run', keys: 'E' },
  'run.duplicate': { title: 'Duplicate', menu: 'Run' },
  'run.change': { title: 'Duplicate with changes…', menu: 'Run' },
  'run.export': { title: 'Export as one file…', menu: 'Run' },
  'run.clean': { title: 'Free disk space…', menu: 'Run' },
  'run.archive': { title: 'Archive / unarchive', menu: 'Run' },
  'run.delete': { title: 'Delete…', menu: 'Run' },
  'app.import': { title: 'Import runs…', menu: 'App' },
  'app.theme': { title: 'Switch light and dark theme', menu: 'App' },
  'app.palette': { title: 'Find anything', menu: 'App', keys: 'Mod+K' },
  'app.keys': { title: 'Keyboard shortcuts', menu: 'App', keys: '?' },
} as const satisfies Record<string, CommandFacts>;

export type CommandId = keyof typeof commands;
export const commandIds = Object.keys(commands) as CommandId[];

/** Returns a command's facts, typed for lists. */
export const factsOf = (id: CommandId): CommandFacts => commands[id];
