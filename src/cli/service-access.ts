import type { Command } from 'commander';

import { UsageError } from '../errors.ts';
import { parseBaseUrl, quotePath, readSecretFile } from '../setting-values.ts';

/** The options of a command that reads from a service as an integrator does. */
export interface ServiceOptions {
  url: string;
  keyFile: string;
}

/** Where a service is, and the key to it. */
export interface ServiceAccess {
  baseUrl: string;
  key: string;
}

/** Adds the options by which a command reaches a service. The key comes from a file: others can read a command line. */
export function withServiceOptions(command: Command): Command {
  return command
    .requiredOption('--url <url>', 'address of the service, such as https://api.example.com')
    .requiredOption('--key-file <file>', 'file that holds the API key and nothing else');
}

/**
 * Reads the options of {@link withServiceOptions}.
 * @throws UsageError that names the option and its rule, and never what the file holds.
 */
export function serviceAccess({ url, keyFile }: ServiceOptions): ServiceAccess {
  return { baseUrl: checkedUrl(url), key: keyIn(keyFile) };
}

function checkedUrl(url: string): string {
  try {
    return parseBaseUrl(url);
  } catch (error) {
    // The message of a setting's parser is its rule.
    const rule = error instanceof Error ? error.message : 'an address';
    throw new UsageError(`--url must be ${rule}, not ${quotePath(url)}.`);
  }
}

function keyIn(path: string): string {
  let text: string;
  try {
    text = readSecretFile('--key-file', path);
  } catch (error) {
    throw error instanceof Error ? new UsageError(error.message) : error;
  }
  // Four parts with dots between them, as the contract has it: a certificate or a password is none.
  if (!/^[\w-]+(?:\.[\w-]+){3}$/.test(text))
    throw new UsageError(`--key-file names ${quotePath(path)}, which doesn't hold an API key.`);
  return text;
}
