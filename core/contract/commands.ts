/**
 * What can be done from anywhere in the app: one list for the palette, the keys and the menu bar. The page says which of them can be done at present, and does them.
 * `keys`: `Mod` is Ctrl, on a Mac Cmd.
 */
export interface CommandFacts {
  title: string;
  menu: 'Go' | 'Run' | 'App';
  keys?: string;
}

export const commands = {
  'go.start': { title: 'Start a run', menu: 'Go', keys: 'Mod+1' },
  'go.history': { title: 'History', menu: 'Go', keys: 'Mod+2' },
  'go.studies': { title: 'Studies', menu: 'Go', keys: 'Mod+3' },
  'go.compare': { title: 'Compare runs', menu: 'Go', keys: 'Mod+4' },
  'go.play': { title: 'Play against a policy', menu: 'Go', keys: 'Mod+5' },
  'go.models': { title: 'Models', menu: 'Go', keys: 'Mod+6' },
  'go.system': { title: 'System and checks', menu: 'Go', keys: 'Mod+7' },
  'go.episodes': { title: 'Search what episodes say', menu: 'Go', keys: 'Mod+Shift+F' },
  'go.trash': { title: 'Deleted runs', menu: 'Go' },
  'run.start': { title: 'Start or resume', menu: 'Run', keys: 'Mod+Enter' },
  'run.pause': { title: 'Pause', menu: 'Run' },
  'run.checkpoint': { title: 'Write a checkpoint', menu: 'Run' },
  'run.stop': { title: 'Stop…', menu: 'Run', keys: 'Mod+.' },
  'run.page': { title: 'Charts and log', menu: 'Run' },
  'run.replay': { title: 'Replay episodes', menu: 'Run' },
  'run.thoughts': { title: 'Thought tree', menu: 'Run' },
  'run.play': { title: 'Play against its policy', menu: 'Run' },
  'run.exports': { title: 'Export for other programs', menu: 'Run' },
  'run.star': { title: 'Star, or take the star away', menu: 'Run' },
  'run.rename': { title: 'Rename…', menu: 'Run' },
  'run.tag': { title: 'Tag…', menu: 'Run' },
  'run.more': { title: 'Train more…', menu: 'Run' },
  'run.fork': { title: 'Fork from a checkpoint', menu: 'Run' },
  'run.evaluate': { title: 'Evaluate a checkpoint', menu: 'Run' },
  'run.duplicate': { title: 'Duplicate', menu: 'Run' },
  'run.change': { title: 'Duplicate with changes…', menu: 'Run' },
  'run.export': { title: 'Export as one file…', menu: 'Run' },
  'run.clean': { title: 'Free disk space…', menu: 'Run' },
  'run.archive': { title: 'Archive, or take out of the archive', menu: 'Run' },
  'run.delete': { title: 'Delete…', menu: 'Run' },
  'app.import': { title: 'Import a run…', menu: 'App' },
  'app.theme': { title: 'Switch between light and dark', menu: 'App' },
  'app.palette': { title: 'Find a command or a run', menu: 'App', keys: 'Mod+K' },
  'app.keys': { title: 'Keys', menu: 'App', keys: '?' },
} as const satisfies Record<string, CommandFacts>;

export type CommandId = keyof typeof commands;
export const commandIds = Object.keys(commands) as CommandId[];

/** As an object of one shape, for whoever lists them. */
export const factsOf = (id: CommandId): CommandFacts => commands[id];
