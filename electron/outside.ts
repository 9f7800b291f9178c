import type { MessageBoxOptions, MessageBoxReturnValue } from 'electron';

/** Hosts that the app itself links to. */
const knownHosts = new Set(['huggingface.co', 'arxiv.org']);
/** Longest address that a dialog shows whole. */
const longest = 2048;

interface Desk {
  ask(options: MessageBoxOptions): Promise<Pick<MessageBoxReturnValue, 'response'>>;
  open(address: string): void;
}

/** Whether the system's browser may open an address: at once, after the person was asked, or never. */
export function outside(address: string): 'at once' | 'asked' | 'never' {
  const url = URL.parse(address);
  if (url?.protocol !== 'https:' || url.href.length > longest) return 'never';
  // What stands before an @ looks like a host and is none.
  if (url.username !== '' || url.password !== '') return 'never';
  return knownHosts.has(url.host) ? 'at once' : 'asked';
}

/** Opens links in the system's browser. Licences and mirrors are anywhere: what the app doesn't know is shown whole, and opened where the person agrees. */
export class OutsideLinks {
  private readonly desk: Desk;
  private asking = false;

  constructor(desk: Desk) {
    this.desk = desk;
  }

  async open(address: string): Promise<void> {
    const way = outside(address);
    if (way === 'never') return;
    // As the browser understands it: without letters that look like others.
    const { href } = new URL(address);
    if (way === 'at once' || (await this.agreed(href))) this.desk.open(href);
  }

  /** One question at a time, however often a link is clicked. */
  private async agreed(address: string): Promise<boolean> {
    if (this.asking) return false;
    this.asking = true;
    try {
      const { response } = await this.desk.ask({
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
      this.asking = false;
    }
  }
}
