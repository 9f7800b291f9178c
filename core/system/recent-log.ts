/** Lines that are kept, and the longest of one. */
const kept = 500;
const longest = 4000;

/** The most recent log messages about problems, with their times. */
export class RecentLog {
  private readonly lines: string[] = [];
  private readonly pass: (message: string) => void;

  /** `pass`: where everything goes at once. */
  constructor(pass: (message: string) => void) {
    this.pass = pass;
  }

  log = (message: string): void => {
    this.lines.push(`${new Date().toISOString()}  ${message.slice(0, longest)}`);
    if (this.lines.length > kept) this.lines.shift();
    this.pass(message);
  };

  text = (): string => this.lines.map((line) => `${line}\n`).join('');
}
