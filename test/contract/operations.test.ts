import t from 'tap';

import { contract, operationOf, operations, type Response, scopesInGuide } from './_contract.ts';

/** The filters of lists beside limit and cursor. */
const filters: Record<string, string[]> = {
  listJobs: ['updatedSince'],
  listForms: ['updatedSince'],
  listFormSubmissions: ['updatedSince'],
  listCustomers: ['updatedSince'],
  listQuotes: ['status', 'customer', 'versions', 'updatedSince'],
  listInvoices: ['kind', 'status', 'customer', 'issuedFrom', 'issuedTo', 'updatedSince'],
};

/** The codes of each status (openapi.yaml, "Errors and retries"). */
const codes: Record<string, string[]> = {
  '400': ['invalid_parameter', 'invalid_cursor', 'invalid_request'],
  '401': ['invalid_key', 'revoked_key'],
  '403': ['missing_scope', 'api_not_enabled', 'company_unavailable', 'module_not_licensed'],
  '404': ['not_found'],
  '429': ['rate_limited'],
  '503': ['unavailable'],
};

/** The headers of each status, and whether every answer has them. */
const always = { 'X-Request-Id': true, 'Cache-Control': true, Vary: true };
const allowance = { 'RateLimit-Policy': true, RateLimit: true };
const allowanceOnceKnown = { 'RateLimit-Policy': false, RateLimit: false };
const headers: Record<string, Record<string, boolean>> = {
  '200': { ...always, ...allowance, ETag: true, 'Store-Generation': true },
  '304': { ...always, ...allowance, ETag: true, 'Store-Generation': true },
  '400': { ...always, ...allowanceOnceKnown },
  '401': { ...always, 'WWW-Authenticate': true },
  '403': { ...always, ...allowance },
  '404': { ...always, ...allowance },
  '429': { ...always, ...allowance, 'Retry-After': true },
  '503': { ...always, ...allowanceOnceKnown, 'Retry-After': true },
};

const isInvoicing = (path: string) => /^\/api\/v1\/(invoices|quotes)/.test(path);

function codesOf({ content }: Response): string[] {
  const examples = Object.values(content?.['application/json']?.examples ?? {});
  return examples.flatMap(({ value }) => (value as { error?: { code: string } }).error?.code ?? []);
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

t.test('each operation takes its own parameters, and lists take limit and cursor', async (t) => {
  for (const { operationId, path, parameters } of operations) {
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const isList = operationId.startsWith('list');
    const inQuery = isList ? ['limit', 'cursor', ...(filters[operationId] ?? [])] : [];
    t.same(
      parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name),
      inPath,
      operationId,
    );
    t.same(
      parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name),
      inQuery,
      operationId,
    );
    t.equal(parameters.length, inPath.length + inQuery.length, operationId);
    for (const parameter of parameters)
      t.equal(parameter.required ?? false, parameter.in === 'path', parameter.name);
  }
  t.match(operationOf('listJobs').parameters[0]?.schema, { minimum: 1, maximum: 100, default: 50 });
});

t.test('each operation declares the same statuses, and 404 where an id is in the path', async (t) => {
  for (const { operationId, path, responses } of operations) {
    const expected = ['200', '304', ...Object.keys(codes)].filter(
      (status) => status !== '404' || path.includes('{'),
    );
    t.same(Object.keys(responses), expected, operationId);
  }
});

t.test('each error status shows each of its codes by a named example', async (t) => {
  for (const { operationId, path, parameters, responses } of operations) {
    const takesCursor = parameters.some(({ name }) => name === 'cursor');
    for (const [status, response] of Object.entries(responses)) {
      const expected = [
        ...(codes[status] ?? []).filter((code) => code !== 'invalid_cursor' || takesCursor),
        ...(status === '503' && isInvoicing(path) ? ['invoicing_not_enabled'] : []),
      ];
      t.same(codesOf(response), expected, `${operationId} ${status}`);
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

t.test('each answer declares its headers, and whether they are always there', async (t) => {
  for (const { operationId, path, responses } of operations) {
    for (const [status, response] of Object.entries(responses)) {
      const declared = Object.entries(response.headers ?? {}).map(([name, { required }]) => [name, required]);
      const expected = {
        ...headers[status],
        ...(status === '503' && isInvoicing(path) ? { 'Retry-After': false } : {}),
        ...(status === '200' && path.endsWith('/pdf')
          ? { 'Content-Disposition': true, 'Content-Length': true }
          : {}),
      };
      t.same(Object.fromEntries(declared), expected, `${operationId} ${status}`);
    }
  }
});

t.test('each operation is shown in curl, with a request that the contract knows', async (t) => {
  for (const { operationId, path, parameters, ...operation } of operations) {
    const [curl, ...others] = operation['x-codeSamples'] ?? [];
    t.match(curl, { lang: 'curl', source: 'Bearer $API_KEY' }, operationId);
    t.same(others, [], operationId);
    const url = new URL(/https:[^"\s]+/.exec(curl?.source ?? '')?.[0] ?? '');
    t.match(url.pathname, new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`), operationId);
    for (const name of url.searchParams.keys())
      t.ok(
        parameters.some((parameter) => parameter.name === name),
        name,
      );
  }
});

t.test('the guide names every error code', async (t) => {
  const [, section = ''] = contract.info.description.split('# Errors and retries');
  const named = [...section.matchAll(/`([a-z]+_[a-z_]+|unavailable)`/g)].map(([, name]) => name);
  t.same([...new Set(named)].sort(), [...(contract.components.schemas['ErrorCode']?.enum ?? [])].sort());
});
