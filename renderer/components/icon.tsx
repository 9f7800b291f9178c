import {
  Check,
  Columns3,
  Copy,
  Ellipsis,
  Gamepad2,
  GitCompare,
  HardDrive,
  History,
  type LucideIcon,
  Maximize2,
  Pencil,
  Pin,
  Puzzle,
  Search,
  SlidersHorizontal,
  Tag,
  Trash2,
  Undo2,
} from 'lucide-react';

const paths = {
  start: 'M5.2 3.2v9.6L12.8 8z',
  star: 'M8 1.8l1.9 4 4.3.6-3.1 3 .8 4.4L8 11.7l-3.9 2.1.8-4.4-3.1-3 4.3-.6z',
  play: 'M4.5 2.8v10.4l8.5-5.2z',
  pause: 'M4.5 3h2.4v10H4.5zM9.1 3h2.4v10H9.1z',
  stop: 'M3.8 3.8h8.4v8.4H3.8z',
  next: 'M4 3v10l6-5zM10.8 3h1.8v10h-1.8z',
  previous: 'M12 3v10L6 8zM3.4 3h1.8v10H3.4z',
  first: 'M13.5 3v10L8.5 8zM8.3 3v10l-5-5zM1.7 3h1.5v10H1.7z',
  last: 'M2.5 3v10l5-5zM7.7 3v10l5-5zM12.8 3h1.5v10h-1.5z',
  checkpoint: 'M3 2.5h8l2.5 2.5v8.5H3zM5.2 2.5v3.6h5V2.5zM5.2 13.5V9.4h5.6v4.1z',
  replay: 'M2 3.5h12v9H2zM6.8 5.8v4.4L10.4 8z',
  sun: 'M8 4.9a3.1 3.1 0 100 6.2 3.1 3.1 0 000-6.2zM8 1v2M8 13v2M1 8h2M13 8h2M3.1 3.1l1.4 1.4M11.5 11.5l1.4 1.4M3.1 12.9l1.4-1.4M11.5 4.5l1.4-1.4',
  moon: 'M13 9.6A5.6 5.6 0 016.4 3 5.6 5.6 0 1013 9.6z',
  close: 'M4 4l8 8M12 4l-8 8',
  back: 'M9.8 3.2L5 8l4.8 4.8',
  chevron: 'M6 3.8L10.4 8 6 12.2',
  reset: 'M3 8a5 5 0 105-5H4.5M6.6.9L4.4 3l2.2 2.2',
  up: 'M8 13V3.5M3.8 7.6L8 3.4l4.2 4.2',
  down: 'M8 3v9.5M3.8 8.4L8 12.6l4.2-4.2',
  queue: 'M2.5 4h11M2.5 8h7M2.5 12h7M12.2 7.6v5M9.7 10.1h5',
  archive: 'M2.3 3h11.4v3H2.3zM3.4 6v7h9.2V6M6.4 8.8h3.2',
  study: 'M2.5 13.5h11M4.5 11V7.5M8 11V3M11.5 11V5.5',
  note: 'M3 2.5h10v8.2L10.2 13.5H3zM5.4 5.8h5.2M5.4 8.6h3.2',
  ok: 'M8 1.8a6.2 6.2 0 100 12.4A6.2 6.2 0 008 1.8zM5.2 8.2l2 2 3.7-4.2',
  watch: 'M1.5 8S4 3.8 8 3.8 14.5 8 14.5 8 12 12.2 8 12.2 1.5 8 1.5 8zM8 6.2a1.8 1.8 0 100 3.6 1.8 1.8 0 000-3.6z',
  warning: 'M8 2L14.6 13.5H1.4zM8 6.4v3.2M8 11.4v.1',
  critical: 'M5.4 1.8h5.2l3.6 3.6v5.2l-3.6 3.6H5.4l-3.6-3.6V5.4zM8 4.8v3.8M8 11v.1',
  quiet: 'M4.5 8h7',
  bell: 'M8 2.2c2.5 0 3.9 1.8 3.9 4.2 0 3 1.3 4.3 1.3 4.3H2.8s1.3-1.3 1.3-4.3C4.1 4 5.5 2.2 8 2.2zM6.6 12.8a1.5 1.5 0 002.8 0',
  fork: 'M4.5 3.2v9.6M4.5 9.2c0-2.4 7-1.6 7-5M4.5 1.8a1.3 1.3 0 100 2.6 1.3 1.3 0 000-2.6zM4.5 11.6a1.3 1.3 0 100 2.6 1.3 1.3 0 000-2.6zM11.5 1.8a1.3 1.3 0 100 2.6 1.3 1.3 0 000-2.6z',
  system: 'M2 3h12v8.2H2zM5.4 13.6h5.2M8 11.2v2.4',
  tree: 'M1.8 8h3.4M5.2 3.5v9M5.2 3.5h3M5.2 8h3M5.2 12.5h3M10.2 3.5h4M10.2 8h4M10.2 12.5h4',
  settings:
    'M2 4.5h6.2M12.2 4.5H14M10.2 3a1.5 1.5 0 100 3 1.5 1.5 0 000-3zM2 11.5h1.8M7.8 11.5H14M5.8 10a1.5 1.5 0 100 3 1.5 1.5 0 000-3z',
  // Imports bring something into the app (down), exports take it out (up).
  import: 'M8 2v7.5M4.8 6.6L8 9.8l3.2-3.2M2.8 12.8h10.4',
  export: 'M8 10V2.5M4.8 5.4L8 2.2l3.2 3.2M2.8 12.8h10.4',
  plus: 'M8 3v10M3 8h10',
  vary: 'M2 12.5l4-4 2.5 2.5L14 5.5M2 7.5l4-4 2 2',
  grip: 'M5.5 3.5v.1M10.5 3.5v.1M5.5 8v.1M10.5 8v.1M5.5 12.5v.1M10.5 12.5v.1',
  model: 'M8 1.8l5.6 3v6.4L8 14.2l-5.6-3V4.8zM2.4 4.8L8 8l5.6-3.2M8 8v6.2',
} as const;

/** Icons from Lucide; use these for new icons. */
const lucideIcons = {
  check: Check,
  columns: Columns3,
  more: Ellipsis,
  compare: GitCompare,
  environment: Puzzle,
  game: Gamepad2,
  expand: Maximize2,
  pin: Pin,
  search: Search,
  options: SlidersHorizontal,
  copy: Copy,
  disk: HardDrive,
  history: History,
  rename: Pencil,
  tag: Tag,
  trash: Trash2,
  undo: Undo2,
} satisfies Record<string, LucideIcon>;

export type IconName = keyof typeof paths | keyof typeof lucideIcons;

const outlined: ReadonlySet<IconName> = new Set([
  'start',
  'star',
  'settings',
  'import',
  'export',
  'plus',
  'vary',
  'grip',
  'checkpoint',
  'replay',
  'sun',
  'moon',
  'close',
  'back',
  'chevron',
  'reset',
  'up',
  'down',
  'queue',
  'archive',
  'study',
  'note',
  'ok',
  'watch',
  'warning',
  'critical',
  'quiet',
  'bell',
  'fork',
  'tree',
  'system',
  'model',
]);

/** Shows a decorative icon; the control around it has the label. */
export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  if (name in lucideIcons) {
    const Drawn = lucideIcons[name as keyof typeof lucideIcons];
    return <Drawn className="icon" size={size} aria-hidden="true" />;
  }
  const line = outlined.has(name);
  return (
    <svg
      className="icon"
      width={size}
      height={size}
      viewBox="0 0 16 16"
      aria-hidden="true"
      fill={line ? 'none' : 'currentColor'}
      stroke={line ? 'currentColor' : 'none'}
      strokeWidth="1.4"
      strokeLinejoin="round"
      strokeLinecap="round"
    >
      <path d={paths[name as keyof typeof paths]} fillRule="evenodd" />
    </svg>
  );
}
