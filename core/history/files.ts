import { join } from 'node:path';

/** The files of a data folder that only its host writes. */

export const databaseFile = (home: string) => join(home, 'studio.db');
export const lockFile = (home: string) => join(home, 'studio.lock');

/** Returns the database of a data folder and the files that SQLite writes beside it. */
export const databaseFiles = (home: string) => ['', '-wal', '-shm'].map((suffix) => databaseFile(home) + suffix);
