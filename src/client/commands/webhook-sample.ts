import { Command } from 'commander';

import { parseServiceName, readSecretFile } from '../../command-line/given-values.ts';
import { exampleSecret } from '../../contract/examples.ts';
import { quote, UsageError } from '../../errors.ts';
import { deliveryHeaders } from '../../contract/delivery-request.ts';
import { exampleOf, sendSample } from '../webhooks/samples.ts';
import { type Terminal, ReportedFailure } from '../../command-line/terminal.ts';

/** Flags and description of the option for the receiver's address; below, those of its secret. */
export const TO_OPTION = [
  '--to <url>',
  'any http or https address, such as http://localhost:3000/hook',
] as const;
export const SECRET_FILE = [
  '--secret-file <file>',
  "file with the signing secret; unless given, that of the contract's test vector",
] as const;

interface SampleOptions {
  to: string;
  secretFile?: string;
  example?: string;
}

/** `fieldledger webhook sample`: sends a sample event to a receiver in development. It needs no database. */
export function webhookSampleCommand(terminal: Terminal): Command {
  return new Command('sample')
    .description("send the contract's example of an event, signed, to an address of your own")
    .argument('<event>', 'kind of the event, such as invoice.issued or ping')
    .requiredOption(...TO_OPTION)
    .option(...SECRET_FILE)
    .option('--example <name>', 'the name of the example, where an event has several')
    .action(async (event: string, options: SampleOptions) => {
      const serviceName = serviceNameIn(terminal);
      const example = exampleOf(event, options.example);
      const secret = signingSecret(options.secretFile);
      const headers = deliveryHeaders(example, { serviceName, secret, at: new Date() });
      const answer = await sendSample(options.to, headers, example.body);
      const request = { url: options.to, headers, body: example.body };
      const isDelivered = answer.status >= 200 && answer.status <= 299;
      // A secret that the user gave isn't shown; the contract's example is public.
      const shownSecret = options.secretFile === undefined ? { secret } : {};
      const lines = [
        `POST ${options.to}`,
        ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
        '',
        example.body,
        '',
        `${answer.status} after ${answer.milliseconds} ms: ${isDelivered ? 'delivered' : NOT_DELIVERED}`,
        hint(options.secretFile === undefined ? secret : undefined),
      ];
      terminal.show({ request, ...shownSecret, answer, isDelivered }, lines.join('\n'));
      if (!isDelivered) throw new ReportedFailure();
    });
}

const NOT_DELIVERED = 'not delivered, because the status isn’t 2xx; a delivery would be retried';

function hint(secret: string | undefined): string {
  const signed = secret === undefined ? 'your secret' : `the secret ${secret}`;
  return (
    `Signed with ${signed}. To verify it, compute the hex HMAC-SHA256 of "<t>.<body>" with the whole secret as the ` +
    'key, whsec_ included; the reference has code for it under "Webhooks".'
  );
}

/** Returns the signing secret in a file, or else the contract's test secret. @throws UsageError for an incomplete secret. */
export function signingSecret(secretFile: string | undefined): string {
  if (secretFile === undefined) return exampleSecret();
  const secret = readSecretFile('--secret-file', secretFile).trim();
  if (!/^whsec_[\x21-\x7e]+$/.test(secret))
    throw new UsageError('The secret must be complete, as it was shown: it begins with whsec_.');
  return secret;
}

/** Returns the service name for the `User-Agent` of webhooks. @throws UsageError for an invalid name. */
export function serviceNameIn({ environment }: Terminal): string {
  const given = environment.SERVICE_NAME || 'Fieldledger';
  try {
    return parseServiceName(given);
  } catch (error) {
    throw new UsageError(`SERVICE_NAME must be ${(error as Error).message}, not ${quote(given)}.`);
  }
}
