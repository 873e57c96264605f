import { setTimeout as pause } from 'node:timers/promises';
import type { AddressInfo } from 'node:net';

import { SMTPServer } from 'smtp-server';
import type { Test } from 'tap';

import { createLogger } from '../../../../src/server/process/log.ts';
import { mailNotices } from '../../../../src/server/features/notices/mailing.ts';
import type { Engine } from '../../../../src/server/store/engines/engine.ts';
import type { Certificate } from '../../sending/_certificates.ts';

/** A mail as it came, with the contents of its two parts. */
export interface Mail {
  to: string[];
  headers: Map<string, string>;
  text: string;
  html: string;
}

/** What a mail server does; it takes everything unless told. */
interface Behaviour {
  /** The answer to a recipient: 550, 451 and the like. */
  refuse?: (to: string) => number | undefined;
  /** Refuses the password. */
  isLockedOut?: boolean;
  /** Before it answers to the data. */
  waitMs?: number;
  /** Before it greets, answers to a recipient, reads a mail, and answers to one that it has. */
  reached?: (stage: Stage) => Promise<void>;
}

export type Stage = 'connected' | 'addressed' | 'begun' | 'taken';

export interface MailServer {
  mails: Mail[];
  url: string;
  behaviour: Behaviour;
  /** Whether it has read all that clients have sent. */
  isIdle: () => boolean;
  close: () => Promise<void>;
}

/** Starts a real mail server that asks for a password, until the test ends. @param tls its certificate; without it, no TLS. */
export async function startMailServer(
  t: Test,
  { port = 0, host = '127.0.0.1', tls }: { port?: number; host?: string; tls?: Certificate } = {},
): Promise<MailServer> {
  const behaviour: Behaviour = {};
  const mails: Mail[] = [];
  let reading = 0;
  const reached = async (stage: Stage) => behaviour.reached?.(stage);
  const refusal = (responseCode: number) => Object.assign(new Error('no'), { responseCode });
  const server = new SMTPServer({
    ...(tls ? { secure: true, ...tls } : { disabledCommands: ['STARTTLS'] }),
    authMethods: ['PLAIN'],
    disableReverseLookup: true,
    onAuth: ({ username, password }, _session, done) => {
      const isRight = username === 'mailer' && password === 'p@ss' && !behaviour.isLockedOut;
      done(isRight ? null : refusal(535), { user: 'mailer' });
    },
    onConnect: (_session, done) => void reached('connected').then(() => done()),
    onRcptTo: ({ address }, _session, done) => {
      const code = behaviour.refuse?.(address);
      void reached('addressed').then(() => done(code === undefined ? null : refusal(code)));
    },
    onData: (stream, { envelope }, done) => {
      void (async () => {
        reading += 1;
        await reached('begun');
        const chunks: Buffer[] = [];
        for await (const chunk of stream) chunks.push(chunk as Buffer);
        await pause(behaviour.waitMs ?? 0);
        const to = envelope.rcptTo.map(({ address }) => address);
        mails.push(mailIn(Buffer.concat(chunks).toString(), to));
        await reached('taken');
        done();
      })()
        .catch(done)
        .finally(() => (reading -= 1));
    },
  });
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => void server.listen(port, host, resolve));
  const close = () => new Promise<void>((resolve) => server.close(resolve));
  t.teardown(close);
  // A server that listens on a port has an address of this shape.
  const { port: taken } = server.server.address() as AddressInfo;
  return {
    mails,
    behaviour,
    isIdle: () => reading === 0 && server.connections.size === 0,
    url: `${tls ? 'smtps' : 'smtp'}://mailer:p%40ss@${tls ? 'localhost' : host}:${taken}`,
    close,
  };
}

/** Mails what is due, once, as a process does every two seconds. */
export async function mailOnce(engine: Engine, smtpUrl: string, now: Date): Promise<void> {
  const settings = {
    from: 'notices@fieldledger.example',
    serviceName: 'Fieldledger',
    baseUrl: 'https://f.example',
  };
  await mailNotices({ ...settings, engine, smtpUrl, log: createLogger('silent'), now: () => now });
}

function mailIn(raw: string, to: string[]): Mail {
  const { headers, body } = partIn(raw);
  const [, boundary = ''] = /boundary="([^"]+)"/.exec(headers.get('content-type') ?? '') ?? [];
  const parts = body.split(`--${boundary}`).slice(1, -1).map(partIn);
  const textOf = (type: string) => {
    const part = parts.find((one) => one.headers.get('content-type')?.startsWith(type));
    return part ? decoded(part.body, part.headers.get('content-transfer-encoding') ?? '') : '';
  };
  return { to, headers, text: textOf('text/plain'), html: textOf('text/html') };
}

/** The headers by their names in small letters, with folded lines joined (RFC 5322 section 2.2.3), and the rest. */
function partIn(raw: string): { headers: Map<string, string>; body: string } {
  const [head = '', ...rest] = raw.replace(/^\r\n/, '').split('\r\n\r\n');
  const lines = head.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n');
  const fields = lines.map((line) => [
    line.slice(0, line.indexOf(':')).toLowerCase(),
    line.slice(line.indexOf(':') + 2),
  ]);
  return { headers: new Map(fields as [string, string][]), body: rest.join('\r\n\r\n') };
}

function decoded(body: string, encoding: string): string {
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString();
  const whole = body.replaceAll(/=\r\n/g, '');
  const bytes = whole.replaceAll(/=([0-9A-F]{2})/g, (_all, hex: string) =>
    String.fromCharCode(parseInt(hex, 16)),
  );
  return encoding === 'quoted-printable' ? Buffer.from(bytes, 'latin1').toString() : whole;
}

/** The words of a header (RFC 2047). */
export function words(header = ''): string {
  return header
    .replaceAll(/\?=\s+=\?/g, '?==?')
    .replaceAll(/=\?utf-8\?([qb])\?(.*?)\?=/gi, (_all, kind: string, text: string) =>
      kind.toLowerCase() === 'b'
        ? Buffer.from(text, 'base64').toString()
        : decoded(text.replaceAll('_', ' '), 'quoted-printable'),
    );
}
