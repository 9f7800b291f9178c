import type { ApiError } from './contract.ts';

/** Explains errors that the operating system and SQLite report about a user's file, disk or permission. */

interface Reason {
  /** Code of our error. */
  code: string;
  /** Completes "FILE can't be read: ...". */
  reason: string;
  hint: string;
}

const permissions = 'Check its owner and permissions (`ls -l`), or choose another location.';
const freeSpace = 'Free some disk space, then try again.';
const ingestedAgain = 'No data was lost: missing events are ingested again.';
const readOnly = {
  code: 'disk_read_only',
  reason: 'the disk is mounted read-only',
  hint: 'Remount the disk with write access, or choose a location on another disk.',
};
const diskFailed = {
  code: 'disk_failed',
  reason: 'the disk reports an input/output error',
  hint: 'Check the disk and its connection (`dmesg`), and back up its data.',
};
const forbidden = { code: 'file_forbidden', reason: 'permission denied', hint: permissions };
const tooManyFiles = {
  code: 'too_many_files',
  reason: 'too many files are open',
  hint: 'Close other programs, or raise the limit (`ulimit -n`), then try again.',
};

const reasons: Readonly<Record<string, Reason>> = {
  ENOSPC: { code: 'disk_full', reason: 'no space is left on the disk', hint: freeSpace },
  EDQUOT: {
    code: 'disk_full',
    reason: 'the disk quota is used up',
    hint: 'Delete files, or ask for a larger quota, then try again.',
  },
  EFBIG: {
    code: 'disk_full',
    reason: 'the file size limit is reached',
    hint: 'Raise the limit (`ulimit -f`), then try again.',
  },
  EACCES: forbidden,
  EPERM: forbidden,
  EROFS: readOnly,
  EIO: diskFailed,
  EMFILE: tooManyFiles,
  ENFILE: tooManyFiles,
  ENOENT: {
    code: 'file_missing',
    reason: 'file not found',
    hint: 'Check the path, and whether its disk is connected.',
  },
  ENOTDIR: { code: 'path_invalid', reason: 'a part of its path is a file', hint: 'Choose another path.' },
  EISDIR: { code: 'path_invalid', reason: 'it is a folder', hint: 'Choose a path to a file.' },
  ENAMETOOLONG: { code: 'path_invalid', reason: 'its name is too long', hint: 'Choose a shorter name.' },
  ELOOP: { code: 'path_invalid', reason: 'too many symbolic links', hint: 'Choose a path without a loop of links.' },
  EEXIST: { code: 'file_exists', reason: 'it already exists', hint: 'Choose another name, or delete the file.' },
  ENOTEMPTY: {
    code: 'file_exists',
    reason: 'the folder is not empty',
    hint: 'Choose another name, or empty the folder.',
  },
  EXDEV: {
    code: 'other_disk',
    reason: 'its destination is on another disk',
    hint: 'Choose a destination on the same disk, or copy the files.',
  },
  EBUSY: { code: 'file_in_use', reason: 'another program uses it', hint: 'Close that program, then try again.' },
  ETXTBSY: { code: 'file_in_use', reason: 'it is being executed', hint: 'End that program, then try again.' },
  ESTALE: {
    ...diskFailed,
    reason: 'it no longer exists on the network disk',
    hint: 'Mount the network disk again, then try again.',
  },
};

/** Reported by mkdir in /proc and similar file systems although the parent exists. */
const noFolders: Reason = {
  code: 'path_invalid',
  reason: 'its parent does not accept new folders',
  hint: 'Choose a folder on a disk.',
};

/** Verbs for system calls that fail on a path; other calls use "used". */
const verbs: Readonly<Record<string, string>> = {
  access: 'opened',
  open: 'opened',
  opendir: 'read',
  scandir: 'read',
  read: 'read',
  readlink: 'read',
  stat: 'read',
  lstat: 'read',
  realpath: 'read',
  write: 'written',
  fsync: 'written',
  ftruncate: 'written',
  utime: 'changed',
  chmod: 'changed',
  mkdir: 'created',
  mkdtemp: 'created',
  copyfile: 'copied',
  rename: 'moved',
  link: 'linked',
  symlink: 'linked',
  unlink: 'deleted',
  rm: 'deleted',
  rmdir: 'deleted',
  spawn: 'started',
};

const sqliteReasons: readonly [RegExp, Reason][] = [
  [/^SQLITE_FULL/, { ...reasons.ENOSPC!, hint: `Free some disk space. ${ingestedAgain}` }],
  // A file can't grow if the disk is full or the file size limit is reached.
  [
    /^SQLITE_IOERR_(WRITE|SHMSIZE|SHMMAP)/,
    {
      code: 'disk_full',
      reason: 'no space is left on the disk, or a limit is reached',
      hint: `Free some disk space, or raise the limit. ${ingestedAgain}`,
    },
  ],
  [/^SQLITE_IOERR/, diskFailed],
  [/^SQLITE_(READONLY|PERM|AUTH)/, { ...forbidden, reason: 'it is read-only' }],
  [/^SQLITE_CANTOPEN/, { ...forbidden, reason: 'it or its -wal and -shm files are not accessible' }],
];

interface SystemError {
  code?: unknown;
  message?: unknown;
  syscall?: unknown;
  path?: unknown;
  dest?: unknown;
}

function reasonOf(code: unknown): Reason | null {
  if (typeof code !== 'string') return null;
  return reasons[code] ?? sqliteReasons.find(([pattern]) => pattern.test(code))?.[1] ?? null;
}

/** Returns why a file can't be read or written, as the end of a sentence. */
export function fileReason(error: unknown): string {
  const { code, message = String(error) } = (error ?? {}) as SystemError;
  return reasonOf(code)?.reason ?? String(message);
}

/** Returns the error for users if the operating system or SQLite rejected an operation on a file, else null. */
export function fileError(error: unknown): ApiError | null {
  const { code, syscall, path, dest } = (error ?? {}) as SystemError;
  const isNewFolder = code === 'ENOENT' && syscall === 'mkdir';
  const found = isNewFolder ? noFolders : reasonOf(code);
  if (!found) return null;
  const isHistory = String(code).startsWith('SQLITE_');
  const file = typeof path === 'string' ? path : isHistory ? 'The run history' : 'A file';
  const target = typeof dest === 'string' ? ` to ${dest}` : '';
  const verb = isHistory ? 'written' : (verbs[String(syscall)] ?? 'used');
  return { code: found.code, message: `${file} can't be ${verb}${target}: ${found.reason}.`, hint: found.hint };
}

/** Adds a path to an error of the operating system that has none, such as a failed write to an open file. */
export function named(error: unknown, path: string): unknown {
  const isUnnamed = error instanceof Error && reasonOf((error as SystemError).code) && !('path' in error);
  return isUnnamed ? Object.assign(error, { path }) : error;
}
