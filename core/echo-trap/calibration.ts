import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { type TrapCalibration, trapCalibration } from '../contract/echo-trap.ts';
import { asDiskFull, asFailure, Failure } from '../contract/failure.ts';
import { writeWhole } from '../run-directory/write-whole.ts';
import { parseThresholds, shippedThresholds, type Thresholds } from './thresholds.ts';

/** Thresholds, and what they were calibrated on. */
export interface Calibration {
  thresholds: Thresholds;
  about: TrapCalibration;
}

export const shippedCalibration: Calibration = {
  thresholds: shippedThresholds,
  about: {
    source: 'shipped',
    models: ['starter policy (1 million parameters) on FrozenLake, Sokoban and Bandit'],
    runs: 82,
    note: 'Fitted to few runs so far. Other models and environments may need thresholds of their own, which the command line of a checkout fits to labelled runs: `starpo calibrate --fit`.',
  },
};

/** In the data folder, where `starpo calibrate --fit` has put thresholds. */
export const fittedFile = (home: string) => join(home, 'echo-trap.json');

const fitted = z.object({
  version: z.literal(3, 'it is of another version of the app'),
  calibration: trapCalibration,
  thresholds: z.unknown(),
});

/** Those of the data folder, else those of the app. Throws `thresholds_invalid` where the file is there and can't be used. */
export function readCalibration(home: string): Calibration {
  let text: string;
  try {
    text = readFileSync(fittedFile(home), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return shippedCalibration;
    throw unusable(error);
  }
  try {
    const { calibration, thresholds } = fitted.parse(JSON.parse(text));
    return { thresholds: parseThresholds(thresholds), about: calibration };
  } catch (error) {
    throw error instanceof Failure ? error : unusable(error);
  }
}

/** The data folder's; where they can't be used, those of the app, and `log` hears why. */
export function usableCalibration(home: string, log: (message: string) => void): Calibration {
  try {
    return readCalibration(home);
  } catch (error) {
    const { message, hint } = asFailure(error);
    log(`${message} ${hint}`);
    return shippedCalibration;
  }
}

function unusable(error: unknown): Failure {
  const reason =
    error instanceof z.ZodError
      ? `${error.issues[0]!.path.join('.') || 'the file'}: ${error.issues[0]!.message}`
      : error instanceof Error
        ? error.message
        : String(error);
  return new Failure(
    'thresholds_invalid',
    `echo-trap.json can't be read: ${reason}.`,
    'Delete it from the data folder to go back to the thresholds of the app, or make it again with `starpo calibrate --fit`, from a checkout.',
  );
}

/** The data folder is made where it isn't there yet. Throws `file_not_written` where it can't be, or can't be written to. */
export function writeCalibration(home: string, { thresholds, about }: Calibration): void {
  try {
    mkdirSync(home, { recursive: true });
    writeWhole(fittedFile(home), { version: 3, calibration: about, thresholds });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw (
      asDiskFull(error) ??
      new Failure(
        'file_not_written',
        `The thresholds can't be kept: ${reason}.`,
        'Name a data folder that may be written to, with --home.',
      )
    );
  }
}
