import type { MessageBoxOptions, MessageBoxReturnValue } from 'electron';

/** Hosts that the app links to. */
const knownHosts = new Set(['huggingface.co', 'arxiv.org']);
/** Maximum address length that a dialog shows in full. */
const longest = 2048;

interface Host {
  ask(options: MessageBoxOptions): Promise<Pick<MessageBoxReturnValue, 'response'>>;
  open(address: string): void;
}

/** Returns how the browser may open an address: immediately, after confirmation, or never. */
export function outside(address: string): 'open' | 'confirm' | 'never' {
  const url = URL.parse(address);
  if (url?.protocol !== 'https:' || url.href.length > longest) return 'never';
  // User info before an @ can imitate a host.
  if (url.username !== '' || url.password !== '') return 'never';
  return knownHosts.has(url.host) ? 'open' : 'confirm';
}

/** Returns a function that opens links in the system browser. Unknown hosts, such as license pages and mirrors, need confirmation. */
export function outsideLinks({ ask, open }: Host): (address: string) => Promise<void> {
  let asking = false;
  /** Asks for confirmation, one dialog at a time. */
  const confirmed = async (address: string): Promise<boolean> => {
    if (asking) return false;
    asking = true;
    try {
      const { response } = await ask({
        type: 'question',
        message: 'Open in your browser?',
        detail: address,
        buttons: ['Open', 'Cancel'],
        defaultId: 1,
        cancelId: 1,
        noLink: true,
      });
      return response === 0;
    } finally {
      asking = false;
    }
  };
  return async (address) => {
    const way = outside(address);
    if (way === 'never') return;
    // Normalized, so look-alike letters appear as punycode.
    const { href } = new URL(address);
    if (way === 'open' || (await confirmed(href))) open(href);
  };
}
