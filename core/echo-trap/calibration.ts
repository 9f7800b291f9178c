import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { makeFolder } from '../base/folders.ts';
import { type TrapCalibration, trapCalibration } from '../contract/echo-trap.ts';
import { asDiskFull, asFailure, Failure, messageOf } from '../contract/failure.ts';
import { fileReason } from '../contract/file-errors.ts';
import { problemIn } from '../contract/issue-words.ts';
import { writeWhole } from '../run-directory/write-whole.ts';
import { parseThresholds, shippedThresholds, type Thresholds } from './thresholds.ts';

/** Thresholds and their calibration data. */
export interface Calibration {
  thresholds: Thresholds;
  about: TrapCalibration;
}

export const shippedCalibration: Calibration = {
  thresholds: shippedThresholds,
  about: {
    source: 'shipped',
    models: ['the starter policy (1 million parameters) on FrozenLake, Sokoban and Bandit'],
    runs: 82,
    note: 'For other models run `starpo calibrate FOLDER --fit` with labeled runs of that model.',
  },
};

/** Returns the path of the thresholds that `starpo calibrate --fit` writes to the data folder. */
export const fittedFile = (home: string) => join(home, 'echo-trap.json');

const fitted = z.object({
  version: z.number().refine((version) => version === 1, 'must be 1: another version of the app wrote the file'),
  calibration: trapCalibration,
  thresholds: z.unknown(),
});

/** Reads the thresholds of the data folder, or returns the built-in ones. Throws `thresholds_invalid` if the file is invalid. */
export function readCalibration(home: string): Calibration {
  let text: string;
  try {
    text = readFileSync(fittedFile(home), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return shippedCalibration;
    throw unusable(messageOf(error));
  }
  try {
    const value = JSON.parse(text);
    const { data, error } = fitted.safeParse(value);
    if (error) throw unusable(problemIn(value, error));
    return { thresholds: parseThresholds(data.thresholds), about: data.calibration };
  } catch (error) {
    throw error instanceof Failure ? error : unusable(messageOf(error));
  }
}

/** Like {@link readCalibration}, but logs an invalid file and returns the built-in thresholds. */
export function usableCalibration(home: string, log: (message: string) => void): Calibration {
  try {
    return readCalibration(home);
  } catch (error) {
    const { message, hint } = asFailure(error);
    log(`${message} ${hint}`);
    return shippedCalibration;
  }
}

const unusable = (reason: string) =>
  new Failure(
    'thresholds_invalid',
    `Can't read echo-trap.json: ${reason}.`,
    'Delete it from the data folder to use the built-in thresholds, or run `starpo calibrate FOLDER --fit`.',
  );

/** Writes thresholds to the data folder, creating it if needed. Throws `disk_full` or `file_not_written`. */
export function writeCalibration(home: string, { thresholds, about }: Calibration): void {
  try {
    makeFolder(home);
    writeWhole(fittedFile(home), { version: 1, calibration: about, thresholds });
  } catch (error) {
    const reason = fileReason(error);
    throw (
      asDiskFull(error) ??
      new Failure(
        'file_not_written',
        `Can't save the thresholds: ${reason}.`,
        'Choose a writable data folder with --home.',
      )
    );
  }
}
