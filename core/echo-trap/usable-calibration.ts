import { asFailure } from '../contract/failure.ts';
import { type Calibration, readCalibration, shippedCalibration } from './calibration.ts';

/** The data folder's thresholds; where they can't be used, those of the app, and `log` hears why. */
export function usableCalibration(home: string, log: (message: string) => void): Calibration {
  try {
    return readCalibration(home);
  } catch (error) {
    const { message, hint } = asFailure(error);
    log(`${message} ${hint}`);
    return shippedCalibration;
  }
}
