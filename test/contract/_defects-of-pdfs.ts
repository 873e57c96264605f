import { inHeaders, withBody } from './_planting.ts';
import type { Defect, ProxiedReply, ProxiedRequest } from './_proxy.ts';

type Change = (reply: ProxiedReply, request: ProxiedRequest) => ProxiedReply;

/** A defect in the PDFs of documents whose file names match. */
function inPdfs(name: RegExp, change: Change): NonNullable<Defect['reply']> {
  return (reply, request) => {
    const isPdf = reply.status === 200 && reply.headers['content-type'] === 'application/pdf';
    return isPdf && name.test(fileName(reply)) ? change(reply, request) : reply;
  };
}

function fileName({ headers }: ProxiedReply): string {
  return /filename="([^"]+)"/.exec(String(headers['content-disposition']))?.[1] ?? '';
}

/** There is no PDF of the documents whose file names match. */
function missing(name: RegExp): NonNullable<Defect['reply']> {
  return (reply, request, again) =>
    request.target.endsWith('/pdf') && name.test(fileName(reply))
      ? again({ ...request, target: '/api/v1/jobs/absent_0000' })
      : reply;
}

/** The pages of the first document of one kind, in the place of another's; the bytes are still each its own. */
function withPagesOf(first: RegExp, others: RegExp): NonNullable<Defect['reply']> {
  let pages: Buffer | undefined;
  return (reply, request, again, party) => {
    if (first.test(fileName(reply))) pages ??= reply.body;
    const taken = pages;
    if (!taken) return reply;
    const change: Change = (own) =>
      withBody(own, Buffer.concat([taken, Buffer.from(`\n%${fileName(own)}\n%%EOF\n`)]));
    return inPdfs(others, change)(reply, request, again, party);
  };
}

function oneForAll(): NonNullable<Defect['reply']> {
  let first: Buffer | undefined;
  return inPdfs(/./, (reply) => withBody(reply, (first ??= reply.body)));
}

let stamp = 0;

/** Defects in the PDFs of documents. */
export const pdfDefects: readonly Defect[] = [
  {
    name: 'a PDF is named after the id',
    within: /each document has a PDF/,
    says: /the file is called [0-9a-f-]+\.pdf, not INV-2026-0001\.pdf/,
    reply: inPdfs(/^INV/, (reply, { target }) => ({
      ...reply,
      headers: {
        ...reply.headers,
        'content-disposition': `attachment; filename="${target.split('/').at(-2) ?? ''}.pdf"`,
      },
    })),
  },
  {
    name: 'every PDF has the same name',
    within: /each document has a PDF/,
    says: /the file is called invoice\.pdf/,
    reply: inHeaders(200, (headers) =>
      'content-disposition' in headers
        ? { ...headers, 'content-disposition': 'attachment; filename="invoice.pdf"' }
        : headers,
    ),
  },
  {
    name: 'a PDF is another one each time',
    within: /each document has a PDF/,
    says: /has other bytes the second time/,
    reply: inPdfs(/./, (reply) => {
      stamp += 1;
      return withBody(reply, Buffer.concat([reply.body, Buffer.from(`%${stamp}\n%%EOF\n`)]));
    }),
  },
  {
    name: 'all documents have one PDF',
    within: /each document has a PDF/,
    says: /has the bytes of another/,
    reply: oneForAll(),
  },
  {
    name: "a PDF has another document's pages",
    within: /each document has a PDF/,
    says: /does not show INV-2026-0002/,
    reply: withPagesOf(/^INV-2026-0001/, /^INV-2026-0002/),
  },
  {
    name: 'a draft has no PDF',
    within: /each document has a PDF/,
    says: /the status is 404/,
    reply: missing(/^draft/),
  },
  {
    name: 'a credit note has no PDF',
    within: /each document has a PDF/,
    says: /the status is 404/,
    reply: missing(/^CN/),
  },
  {
    name: 'a pro forma has no PDF',
    within: /each document has a PDF/,
    says: /the status is 404/,
    reply: missing(/^PF/),
  },
  {
    name: 'a draft is not marked',
    within: /each document has a PDF/,
    says: /is not marked DRAFT/,
    reply: withPagesOf(/^INV/, /^draft/),
  },
];
