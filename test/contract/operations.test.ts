import t from 'tap';

import { contract, operationOf, operations, type Response, scopesInGuide } from './_contract.ts';

/*
 * Every operation has these, also one that is new. The rest of each is held to the releases
 * (compatibility.test.ts) and to the servers (suite-answers.test.ts).
 */

const isOfInvoicing = (path: string) => /^\/api\/v1\/(invoices|quotes)/.test(path);

function codesOf({ content }: Response): string[] {
  const examples = Object.values(content?.['application/json']?.examples ?? {});
  return examples.flatMap(({ value }) => (value as { error?: { code: string } }).error?.code ?? []);
}

/** The headers of an answer, and whether they are always there. */
function headersOf({ headers = {} }: Response): Record<string, boolean> {
  return Object.fromEntries(Object.entries(headers).map(([name, { required }]) => [name, required]));
}

t.test('each operation is a GET with the one scope that the guide gives it', async (t) => {
  t.same(operations.map(({ operationId }) => operationId).sort(), [...scopesInGuide.keys()].sort());
  t.same(contract.components.securitySchemes['bearerAuth']?.scheme, 'bearer');
  for (const { operationId, method, security } of operations) {
    t.equal(method, 'get', operationId);
    t.same(security, [{ bearerAuth: [scopesInGuide.get(operationId)] }], operationId);
  }
});

t.test('each operation has a title and says what it returns', async (t) => {
  for (const { operationId, summary, description, tags } of operations) {
    t.match(summary, /^(List|Get) [a-z].*[a-zF]$/, operationId);
    t.match(description, /^Returns .*\.$/s, operationId);
    t.equal(tags.length, 1, operationId);
  }
});

t.test('each operation takes the ids in its path, and lists take limit and cursor first', async (t) => {
  for (const { operationId, path, parameters } of operations) {
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const isList = operationId.startsWith('list');
    t.same(
      parameters.filter(({ required }) => required === true).map(({ name, in: place }) => [name, place]),
      inPath.map((name) => [name, 'path']),
      operationId,
    );
    const inQuery = parameters.filter(({ in: place }) => place === 'query').map(({ name }) => name);
    t.same(inQuery.slice(0, 2), isList ? ['limit', 'cursor'] : [], operationId);
  }
});

t.test('each operation declares the statuses, codes and headers of all others', async (t) => {
  const [list, detail] = [operationOf('listInvoices'), operationOf('getInvoice')];
  const model: Record<string, Response | undefined> = { ...detail.responses, ...list.responses };
  for (const { operationId, path, parameters, responses } of operations) {
    const statuses = Object.keys(model).filter((status) => status !== '404' || path.includes('{'));
    t.same(Object.keys(responses), statuses, operationId);
    const takesCursor = parameters.some(({ name }) => name === 'cursor');
    const isMissing = (code: string) =>
      (code === 'invalid_cursor' && !takesCursor) ||
      (code === 'invoicing_not_enabled' && !isOfInvoicing(path));
    for (const [status, response] of Object.entries(responses)) {
      const known = model[status] ?? { description: '' };
      t.same(
        codesOf(response),
        codesOf(known).filter((code) => !isMissing(code)),
        `${operationId} ${status}`,
      );
      const isFile = status === '200' && path.endsWith('/pdf');
      const expected = {
        ...headersOf(known),
        // Waiting helps wherever there is no other reason for a 503.
        ...(status === '503' && { 'Retry-After': !isOfInvoicing(path) }),
        ...(isFile && { 'Content-Disposition': true, 'Content-Length': true }),
      };
      t.same(headersOf(response), expected, `${operationId} ${status}`);
    }
  }
});

t.test('each error code is shown somewhere, and no other is', async (t) => {
  const { ErrorCode, ErrorDetail } = contract.components.schemas;
  const shown = operations.flatMap(({ responses }) => Object.values(responses).flatMap(codesOf));
  const ofNoOperation = (ErrorDetail?.examples ?? []).map((value) => (value as { code: string }).code);
  t.same(ofNoOperation, ['method_not_allowed']);
  t.same([...new Set([...shown, ...ofNoOperation])].sort(), [...(ErrorCode?.enum ?? [])].sort());
});

t.test('each operation is shown in curl, with a request that the contract knows', async (t) => {
  for (const { operationId, path, parameters, ...operation } of operations) {
    const [curl, ...others] = operation['x-codeSamples'] ?? [];
    t.match(curl, { lang: 'curl', source: 'Bearer $API_KEY' }, operationId);
    t.same(others, [], operationId);
    const url = new URL(/https:[^"\s]+/.exec(curl?.source ?? '')?.[0] ?? '');
    t.match(url.pathname, new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`), operationId);
    const known = parameters.map(({ name }) => name);
    for (const name of url.searchParams.keys()) t.ok(known.includes(name), name);
  }
});

t.test('the guide names every error code', async (t) => {
  const [, section = ''] = contract.info.description.split('# Errors and retries');
  const named = [...section.matchAll(/`([a-z]+_[a-z_]+|unavailable)`/g)].map(([, name]) => name);
  t.same([...new Set(named)].sort(), [...(contract.components.schemas['ErrorCode']?.enum ?? [])].sort());
});
