import t from 'tap';

import { createContractBackend, type AnyReply } from '../../../src/server/api/contract-backend.ts';
import { contractOperations } from '../../../src/contract/document.ts';
import { recordEnvelope } from '../../../src/contract/json-text.ts';

const caller = { company: 'acme' } as never;

/** A backend whose handlers all answer the same, and whose reply is kept rather than sent. */
async function openBackend() {
  const handler = async () => ({ status: 200, body: recordEnvelope('"found"' as never) });
  const handlers = Object.fromEntries(contractOperations().map(({ operationId }) => [operationId, handler]));
  const sent: AnyReply[] = [];
  const backend = await createContractBackend({
    handlers: handlers as never,
    admit: async (_operation, exchange) => {
      exchange.caller = caller;
    },
    send: async (reply) => {
      sent.push(reply);
    },
  });
  const ask = async (path: string, query = '') => {
    const exchange = { requestId: 'one', authorization: undefined, address: '192.0.2.1' };
    await backend.handleRequest(
      { method: 'GET', path, query, headers: {} },
      exchange,
      {},
      {},
      () => undefined,
    );
    return sent.pop();
  };
  return { backend, ask };
}

t.test('openapi-backend dispatches each request to its handler, and sends its reply', async (t) => {
  const { ask } = await openBackend();
  t.match(await ask('/api/v1/jobs/JOB-1'), { status: 200, body: '{"data":"found"}' });
});

t.test('without its handler an operation is not implemented', async (t) => {
  const { backend, ask } = await openBackend();
  Reflect.deleteProperty(backend.handlers, 'getJob');
  await t.rejects(ask('/api/v1/jobs/JOB-1'), /501-notImplemented: getJob/);
  t.match(await ask('/api/v1/jobs'), { status: 200 }, 'and the others are');
});

t.test('without the security handler every request is refused', async (t) => {
  const { backend, ask } = await openBackend();
  Reflect.deleteProperty(backend.securityHandlers, 'bearerAuth');
  for (const path of ['/api/v1/jobs/JOB-1', '/api/v1/invoices'])
    await t.rejects(ask(path), { code: 'invalid_key' });
});

t.test('without validation a wrong parameter would pass', async (t) => {
  const { backend, ask } = await openBackend();
  await t.rejects(ask('/api/v1/jobs', 'limit=0'), { code: 'invalid_parameter' });
  backend.validate = false;
  t.match(await ask('/api/v1/jobs', 'limit=0'), { status: 200 });
});
