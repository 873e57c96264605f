import type { IncomingHttpHeaders, RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';

import type { Test } from 'tap';

import {
  type AccessPoint,
  type AccessPointSettings,
  createAccessPoint,
} from '../../../../src/server/features/hand-over/access-point.ts';
import { handOverDocuments } from '../../../../src/server/features/hand-over/handing-over.ts';
import { createLogger } from '../../../../src/server/process/log.ts';
import type { Engine } from '../../../../src/server/store/engines/engine.ts';
import { findHandOver, type HandOver } from '../../../../src/server/store/records/hand-overs.ts';
import { invoiceDraft, issued, openIssuer } from '../../backoffice/_documents.ts';
import type { TestBackoffice } from '../../backoffice/_backoffice.ts';
import { irishCompany } from '../../backoffice/_parties.ts';
import { HOST, startHttpsReceiver } from '../../sending/_receivers.ts';
import { senderTo } from '../../sending/_senders.ts';

export const TOKEN = 'token-of-the-access-point';

/** A company that hands over what it issues. */
export const openSender = (backoffice: TestBackoffice) =>
  openIssuer(backoffice, { company: { ...irishCompany, handOver: true } });

/** The same with an invoice that it has issued. */
export async function startSender(backoffice: TestBackoffice) {
  const company = await openSender(backoffice);
  return { company, invoice: await issued(company, invoiceDraft()) };
}

/** Hands over what is due, once, as a process does every two seconds. */
export const handOverOnce = (engine: Engine, accessPoint: AccessPoint, now: Date) =>
  handOverDocuments({ engine, accessPoint, log: createLogger('silent'), now: () => now, random: () => 0 });

/** An access point that takes files from an empty folder. */
export function openFolder(t: Test, options: Pick<AccessPointSettings, 'dropMsMax'> = {}) {
  const folder = t.testdir({});
  return { folder, accessPoint: pointAt(t, folder, options) };
}

export function pointAt(
  t: Test,
  folder: string,
  options: Pick<AccessPointSettings, 'dropMsMax'> = {},
): AccessPoint {
  // It sends nothing.
  const sender = undefined as never;
  const accessPoint = createAccessPoint({ folder, serviceName: 'Acme', ...options }, sender) as AccessPoint;
  t.teardown(() => accessPoint[Symbol.asyncDispose]());
  return accessPoint;
}

export interface Request {
  headers: IncomingHttpHeaders;
  body: string;
}

/** An access point over HTTPS that answers as the last given listener does; the test sees all that it was sent. */
export async function startAccessPoint(t: Test, deadlineMs = 60_000) {
  const requests: Request[] = [];
  const behaviour: { answer: RequestListener } = { answer: (_req, res) => void res.writeHead(202).end() };
  const receiver = await startHttpsReceiver((req, res) => {
    void text(req).then((body) => {
      requests.push({ headers: req.headers, body });
      behaviour.answer(req, res);
    });
  });
  const sender = senderTo(receiver, { deadlineMs });
  t.teardown(async () => {
    await sender[Symbol.asyncDispose]();
    await receiver[Symbol.asyncDispose]();
  });
  const settings = { url: `https://${HOST}/as4/outbox`, token: TOKEN, serviceName: 'Acme' };
  const accessPoint = createAccessPoint(settings, sender) as AccessPoint;
  return { accessPoint, requests, behaviour };
}

export async function stateOf(engine: Engine, company: string, id: string): Promise<HandOver> {
  const found = await findHandOver(engine.db, company, id);
  if (!found) throw new Error('The document is not handed over.');
  return found;
}
