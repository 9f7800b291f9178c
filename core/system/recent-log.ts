/** Number of stored lines, and their maximum length. */
const maxLines = 500;
const maxLength = 4000;

/** The most recent log messages about problems, with their times. */
export class RecentLog {
  private readonly lines: string[] = [];
  private readonly pass: (message: string) => void;

  /** `pass` is called with every message. */
  constructor(pass: (message: string) => void) {
    this.pass = pass;
  }

  log = (message: string): void => {
    this.lines.push(`${new Date().toISOString()}  ${message.slice(0, maxLength)}`);
    if (this.lines.length > maxLines) this.lines.shift();
    this.pass(message);
  };

  text = (): string => this.lines.map((line) => `${line}\n`).join('');
}
