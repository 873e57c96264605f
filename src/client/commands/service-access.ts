import { type Command, Option } from 'commander';

import { quote, UsageError } from '../../errors.ts';
import { parseBaseUrl, readSecretFile, withoutByteOrderMark } from '../../command-line/given-values.ts';
import type { Terminal } from '../../command-line/terminal.ts';

/** The options of a command that reads from a service over the public API. */
export interface ServiceOptions {
  url?: string;
  keyFile?: string;
}

/**
 * Adds the options for a service and its key to a command. The key is no argument: other users can read command lines.
 * @param isAlways whether the command always reads from a service, and never from a copy alone.
 */
export function withService(command: Command, isAlways = true): Command {
  const url = new Option('--url <url>', 'address of the service, such as https://api.fieldledger.example');
  return command
    .addOption(url.makeOptionMandatory(isAlways))
    .option('--key-file <file>', 'file with the API key; without it the key is API_KEY of the environment');
}

/**
 * Returns the address and key that the options of {@link withService} give.
 * @throws UsageError that names the option and its rule, but never shows the key.
 */
export function serviceAccess({ url, keyFile }: ServiceOptions, { environment }: Terminal) {
  if (url === undefined) throw new UsageError('A service is missing: name its address with --url.');
  const key =
    keyFile === undefined
      ? environment.API_KEY && withoutByteOrderMark(environment.API_KEY)
      : readSecretFile('--key-file', keyFile);
  if (!key) throw new UsageError('A key is missing: name its file with --key-file, or set API_KEY.');
  // The contract, "Authentication". A certificate or a password has another format.
  if (!/^[\x21-\x7e]+$/.test(key) || key.split('.').length !== 4) {
    const where = keyFile === undefined ? 'API_KEY' : `The file ${quote(keyFile)}`;
    throw new UsageError(`${where} has no API key, which looks like prefix.company.id.secret.`);
  }
  return { baseUrl: addressOf(url), key };
}

function addressOf(given: string): string {
  try {
    return parseBaseUrl(given);
  } catch (error) {
    throw new UsageError(`--url must be ${(error as Error).message}, not ${quote(given)}.`);
  }
}
