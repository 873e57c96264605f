import { setTimeout as pause } from 'node:timers/promises';

import { createLogger, type Logger } from '../../../../../src/server/process/log.ts';
import { createMetrics } from '../../../../../src/server/process/metrics.ts';
import type { Engine } from '../../../../../src/server/store/engines/engine.ts';
import {
  DeliveryLoop,
  type DeliveryLoopOptions,
} from '../../../../../src/server/features/webhooks/deliveries/delivery-loop.ts';
import { createSecretBox } from '../../../../../src/server/process/secret-box.ts';
import type { AttemptResult, Sender, WebhookRequest } from '../../../../../src/server/sending/sender.ts';
import { SECRET_KEY, until } from '../../../../_command.ts';

const noPhases = { dns: null, connect: null, tls: null, firstByte: null };

export function answer(status: number): AttemptResult {
  return { status, error: null, phases: { ...noPhases, firstByte: 1 }, totalMs: 1 };
}

export function noAnswer(error: AttemptResult['error']): AttemptResult {
  return { status: null, error, phases: noPhases, totalMs: 1 };
}

export interface ScriptedSender extends Sender {
  /** Everything that was sent, in order. */
  sent: WebhookRequest[];
  /** The most deliveries that were under way at once. */
  mostUnderWay: () => number;
}

/** A sender that answers itself. */
export function scriptedSender(
  reply: (request: WebhookRequest, attempt: number) => AttemptResult | Promise<AttemptResult>,
): ScriptedSender {
  const sent: ScriptedSender['sent'] = [];
  const attempts = new Map<string, number>();
  let underWay = 0;
  let most = 0;
  return {
    sent,
    mostUnderWay: () => most,
    async send(request) {
      const id = request.headers['Service-Delivery'] ?? '';
      const attempt = (attempts.get(id) ?? 0) + 1;
      attempts.set(id, attempt);
      sent.push(request);
      most = Math.max(most, ++underWay);
      try {
        return await reply(request, attempt);
      } finally {
        underWay -= 1;
      }
    },
    async [Symbol.asyncDispose]() {
      while (underWay > 0) await pause(5);
    },
  };
}

export function namedLog(): { log: Logger; names: string[] } {
  const names: string[] = [];
  const log = createLogger('silent');
  log.info = log.error = (...given: unknown[]) => void names.push(String(given.at(-1)));
  return { log, names };
}

/** Starts a loop that says nothing; its clock is the machine's, unless told. */
export function startLoop(
  engine: Engine,
  sender: Sender,
  options: Partial<DeliveryLoopOptions> = {},
): DeliveryLoop {
  return new DeliveryLoop({
    engine,
    sender,
    secrets: createSecretBox(SECRET_KEY),
    serviceName: 'Fieldledger',
    log: createLogger('silent'),
    metrics: createMetrics().deliveries,
    now: () => new Date(),
    ...options,
  });
}

export async function deliveryRows(engine: Engine) {
  return engine.db.selectFrom('deliveries').selectAll().orderBy('id').execute();
}

/** The attempts of a database, in the order in which they were made. */
export async function attemptRows(engine: Engine) {
  return engine.db
    .selectFrom('delivery_attempts')
    .selectAll()
    .orderBy('delivery')
    .orderBy('number')
    .execute();
}

/** Waits until every delivery is in one of the states. */
export const settled = (engine: Engine, ...states: string[]) =>
  until(async () => (await deliveryRows(engine)).every(({ state }) => states.includes(state)));

/** Removes all deliveries and what they are of. */
export async function forgetDeliveries(engine: Engine): Promise<void> {
  for (const table of ['delivery_attempts', 'deliveries', 'events']) await engine.run(`DELETE FROM ${table}`);
}
