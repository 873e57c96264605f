import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';

import { createContractBackend } from '../../../src/server/api/contract-backend.ts';
import { handlers } from '../../../src/server/api/handlers.ts';
import { contractOperations } from '../../../src/contract/document.ts';
import { isScope, scopes } from '../../../src/contract/scopes.ts';

const operationIds = contractOperations().map(({ operationId }) => operationId);

t.test('every operation has a handler, and a file of its name with that one export', async (t) => {
  t.strictSame(Object.keys(handlers).sort(), [...operationIds].sort());
  const folder = join(import.meta.dirname, '..', '..', '..', 'src', 'server', 'api', 'operations');
  t.strictSame(readdirSync(folder).sort(), operationIds.map((operationId) => `${operationId}.ts`).sort());
  for (const operationId of operationIds) {
    const module = (await import(join(folder, `${operationId}.ts`))) as object;
    t.strictSame(Object.keys(module), [operationId]);
  }
});

t.test('a handler without an operation stops the start', async (t) => {
  const nothing = async () => undefined;
  const start = (changed: object) =>
    createContractBackend({ handlers: changed as never, needs: {} as never, admit: nothing, send: nothing });
  await t.resolves(start(handlers));
  await t.rejects(start({ ...handlers, deleteJob: handlers.getJob }), /deleteJob/);
});

t.test('every operation names a scope that a key can hold, and every scope is named', async (t) => {
  const named = contractOperations().map(({ scope }) => scope);
  t.ok(named.every(isScope));
  t.strictSame([...new Set(named)].sort(), [...scopes].sort());
});
