import t from 'tap';

import { contractOperations } from '../../../src/contract/document.ts';
import type { JsonText } from '../../../src/contract/json-text.ts';
import type { DefaultedParameters } from '../../../src/contract/operations.ts';
import type { Job } from '../../../src/contract/records.ts';
import type { Handler, Handlers } from '../../../src/server/api/handler.ts';
import { AppError } from '../../../src/errors.ts';

/**
 * Handlers as someone might write them. The compiler refuses what follows an `@ts-expect-error`, and refuses that comment
 * (`npm run types`) where it has nothing to refuse. Nothing here is called.
 */
export function compiled(
  handlers: Handlers,
  job: JsonText<{ data: Job }>,
  jobs: JsonText<{ data: Job[]; nextCursor: string | null }>,
  anything: JsonText<{ data: { id: string } }>,
) {
  const { getJob, ...others } = handlers;
  const right: Handler<'listJobs'> = async ({ query }) => {
    const limit: number = query.limit;
    const since: string | undefined = query.updatedSince;
    // @ts-expect-error: a parameter without a default can't be taken for granted.
    const given: string = query.updatedSince;
    return { status: 200, body: limit || since || given ? jobs : jobs };
  };
  const ofPath: Handler<'getJob'> = async ({ path }) => {
    // @ts-expect-error: the operation has no such parameter.
    const { jobId, customerId } = path;
    return { status: 200, body: jobId === customerId ? job : job };
  };
  return {
    right,
    ofPath,
    getJob,
    whole: { ...handlers } satisfies Handlers,
    // @ts-expect-error: an operation is missing.
    missing: others satisfies Handlers,
    // @ts-expect-error: the contract has no such operation.
    unknown: { ...handlers, deleteJob: handlers.getJob } satisfies Handlers,
    // @ts-expect-error: it is another operation's handler.
    another: handlers.getCustomer satisfies Handler<'getJob'>,
    // @ts-expect-error: the status isn't declared.
    created: (async () => ({ status: 201, body: job })) satisfies Handler<'getJob'>,
    // @ts-expect-error: errors are thrown.
    absent: (async () => ({ status: 404, body: job })) satisfies Handler<'getJob'>,
    // @ts-expect-error: the body is another operation's.
    listed: (async () => ({ status: 200, body: jobs })) satisfies Handler<'getJob'>,
    // @ts-expect-error: the body lacks members.
    part: (async () => ({ status: 200, body: anything })) satisfies Handler<'getJob'>,
    // @ts-expect-error: the body is any text.
    text: (async () => ({ status: 200, body: '{}' })) satisfies Handler<'getJob'>,
    // @ts-expect-error: there is no body.
    empty: (async () => ({ status: 200 })) satisfies Handler<'getJob'>,
    // @ts-expect-error: the contract has no such code.
    code: new AppError('teapot', 'No.'),
  };
}

t.test('handlers always find those parameters to which the contract gives a default', async (t) => {
  // The compiler refuses a name too many or too few.
  const found: { [K in keyof DefaultedParameters]: Record<DefaultedParameters[K], true> } = {
    listInvoices: { status: true },
    listQuotes: { versions: true },
  };
  const defaulted = contractOperations().flatMap(({ operationId, parameters }) => {
    const names = parameters.filter(({ schema }) => schema.default !== undefined).map(({ name }) => name);
    t.equal(names.includes('limit'), operationId.startsWith('list'), `${operationId}: limit`);
    const others = names.filter((name) => name !== 'limit').map((name) => [name, true] as const);
    return others.length > 0 ? [[operationId, Object.fromEntries(others)] as const] : [];
  });
  t.strictSame(found, Object.fromEntries(defaulted));
});
