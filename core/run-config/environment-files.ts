import { type EnvironmentConfig, findField } from './schema.ts';

/** Digests of the files that levels depend on: `environments[].files_sha256`. */

/** Returns the keys and values of the settings that name files. */
const fileNames = (environment: Pick<EnvironmentConfig, 'type' | 'config'>): [string, unknown][] =>
  Object.entries(environment.config).filter(([key]) => namesFiles(environment, key));

const namesFiles = (environment: Pick<EnvironmentConfig, 'type' | 'config'>, key: string) =>
  findField(['environments', 0, 'config', key], { environments: [environment] })?.names_files === true;

/** Returns a changed environment. If it has other files than the original, it lacks the original's digest. */
export function withOwnDigest(changed: EnvironmentConfig, original: EnvironmentConfig | undefined): EnvironmentConfig {
  const sameNames =
    original !== undefined &&
    original.type === changed.type &&
    fileNames(changed).every(([key, name]) => original.config[key] === name);
  const stale = !sameNames && changed.files_sha256 === original?.files_sha256;
  return stale ? { ...changed, files_sha256: '' } : changed;
}
