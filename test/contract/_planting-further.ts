import { gunzipSync, gzipSync } from 'node:zlib';

import {
  answer,
  both,
  drop,
  forNothing,
  instead,
  type ProxiedPage,
  queryOf,
  records,
  second,
  withBody,
  withKeyOf,
  withQuery,
} from './_planting.ts';
import type { Change, ProxiedReply, ProxiedRequest } from './_proxy.ts';

/** Keys that are taken from where none counts; lists, PDFs and allowances of which several answers are wrong together. */

function withAuthorization(request: ProxiedRequest, key: string | undefined): ProxiedRequest {
  if (key === undefined) return request;
  return { ...request, headers: { ...request.headers, authorization: `Bearer ${key}` } };
}

/** A key is taken from a header, or from the authorization in another form; the pattern's group is the key. */
export function keyIn(header: string, pattern = /^(?:Bearer )?(.+)$/): Change {
  return {
    request: (request) => withAuthorization(request, pattern.exec(request.headers[header] ?? '')?.[1]),
  };
}

/** A key is taken from a parameter. */
export function keyInQuery(name: string): Change {
  return {
    request: (request) => {
      const key = queryOf(request).get(name);
      if (key === null) return request;
      return withAuthorization(
        withQuery(request, (query) => query.delete(name)),
        key,
      );
    },
  };
}

/** A key is taken from the name or the password of Basic. */
export function keyInBasic(place: 0 | 1): Change {
  return {
    request: (request) => {
      const [, coded] = /^Basic ([A-Za-z0-9+/=]+)$/.exec(request.headers['authorization'] ?? '') ?? [];
      const pair = Buffer.from(coded ?? '', 'base64').toString('latin1');
      return withAuthorization(request, coded === undefined ? undefined : pair.split(':')[place]);
    },
  };
}

/** A key is taken for the reader's when its parts are like the reader's. */
export function keyLike(isLike: (sent: string[], own: string[]) => boolean): Change {
  return {
    request: (request, party) => {
      const [sent, own] = [request.headers['authorization'] ?? '', party.authorization('reader') ?? ''];
      const parts = [sent, own].map((text) => text.replace('Bearer ', '').split('.'));
      const isAnother = sent.startsWith('Bearer ') && sent !== own;
      return isAnother && isLike(parts[0] ?? [], parts[1] ?? [])
        ? withKeyOf(party, 'reader', request)
        : request;
    },
  };
}

/** A key with the id of a revoked one is taken for it. */
export function revokedById(): Change {
  return {
    request: (request, party) => {
      const withId = party.authorization('revoked')?.replace(/[^.]*$/, '') ?? '';
      const isSuch = request.headers['authorization']?.startsWith(withId) === true;
      return isSuch ? withKeyOf(party, 'revoked', request) : request;
    },
  };
}

/** Whether some parts of two keys are the same. */
export const same =
  (...parts: number[]) =>
  (sent: string[], own: string[]) =>
    parts.every((part) => sent[part] === own[part]);

/** Whether two keys are the same but for the size of one part's letters. */
export const sameLetters = (part: number) => (sent: string[], own: string[]) =>
  sent[part]?.toLowerCase() === own[part]?.toLowerCase() &&
  same(...[0, 1, 2, 3].filter((other) => other !== part))(sent, own);

/** Once something was refused, everything is. */
export function refusedForGood(): Change {
  let refused: ProxiedReply | undefined;
  return answer((reply) => {
    if (reply.status === 429) refused = reply;
    return refused ?? reply;
  });
}

const LIST = /^\/api\/v1\/(?:jobs|people|forms|forms\/\w+\/submissions|customers|invoices|quotes)(?:\?|$)/;

/** Lists that are asked without a limit have another one than the contract's. */
export function limitUnlessTold(limit: string, isFor: (query: URLSearchParams) => boolean): Change {
  return {
    request: (request) => {
      const query = queryOf(request);
      if (!LIST.test(request.target) || query.has('limit') || !isFor(query)) return request;
      return withQuery(request, (changed) => changed.set('limit', limit));
    },
  };
}

/** A page after the first holds what it would without a filter. */
export function lostOnLaterPages(name: string): Change {
  return {
    reply: async (reply, request, again, party) => {
      const query = queryOf(request);
      const cursor = query.get('cursor');
      if (reply.status !== 200 || cursor === null || !query.has(name)) return reply;
      // Our own cursors end with the id after which their page begins.
      const after = Buffer.from(cursor.slice(13), 'base64url').toString('utf8');
      const rest: Record<string, unknown>[] = [];
      let next: string | null = null;
      for (let pages = 0; pages < 10 && (pages === 0 || next !== null); pages++) {
        const { body } = await again(
          withQuery(request, (changed) => {
            for (const parameter of [name, 'cursor']) changed.delete(parameter);
            changed.set('limit', '100');
            if (next !== null) changed.set('cursor', next);
          }),
        );
        const page = JSON.parse(body.toString('utf8')) as {
          data: { id: string }[];
          nextCursor: string | null;
        };
        rest.push(...page.data.filter(({ id }) => id > after));
        next = page.nextCursor;
      }
      const unfiltered = records(request.target.split('?')[0] ?? '', () =>
        rest.slice(0, Number(query.get('limit') ?? 50)),
      );
      return unfiltered.reply?.(reply, request, again, party) ?? reply;
    },
  };
}

/** Notes what went with each cursor when it was given, and answers another request where something else goes with it now. */
export function cursorBound(
  boundOf: (request: ProxiedRequest) => string,
  isWrong: (given: string, request: ProxiedRequest, reply: ProxiedReply) => boolean,
  other: (query: URLSearchParams) => void,
): Change {
  const known = new Map<string, string>();
  return {
    reply: (reply, request, again) => {
      const given = known.get(queryOf(request).get('cursor') ?? '');
      if (given !== undefined && isWrong(given, request, reply)) return again(withQuery(request, other));
      const [, next] = /"nextCursor":"([^"]+)"/.exec(reply.body.toString('utf8')) ?? [];
      if (next !== undefined) known.set(next, boundOf(request));
      return reply;
    },
  };
}

/** Of each parameter that comes twice, one counts. */
export function withoutRepetition(which: 0 | -1): Change {
  return {
    request: (request) => {
      const query = queryOf(request);
      const names = [...new Set(query.keys())];
      if (names.length === query.size) return request;
      return withQuery(request, (changed) => {
        for (const name of names) changed.set(name, query.getAll(name).at(which) ?? '');
      });
    },
  };
}

/** Parameters without a value aren't looked at. */
export function withoutEmpty(isFor: (name: string) => boolean): Change {
  return {
    request: (request) => {
      const empty = [...queryOf(request)].filter(([name, value]) => value === '' && isFor(name));
      if (empty.length === 0) return request;
      return withQuery(request, (query) => {
        for (const [name] of empty) query.delete(name);
      });
    },
  };
}

function fileName({ headers }: ProxiedReply): string {
  return /filename="([^"]+)"/.exec(String(headers['content-disposition']))?.[1] ?? '';
}

const isPdf = (_request: ProxiedRequest, reply: ProxiedReply) =>
  reply.status === 200 && fileName(reply).endsWith('.pdf');

/** The file of a PDF has another name. */
export function namedPdf(nameOf: (request: ProxiedRequest) => string | undefined): Change {
  return answer((reply, request) => {
    const disposition = `attachment; filename="${nameOf(request)}.pdf"`;
    return { ...reply, headers: { ...reply.headers, 'content-disposition': disposition } };
  }, isPdf);
}

/** The bytes of PDFs are others. */
export function inPdf(change: (pdf: string) => string): Change {
  return answer((reply) => {
    const pdf = change(reply.body.toString('latin1'));
    return withBody(reply, Buffer.from(pdf, 'latin1'));
  }, isPdf);
}

export function withoutPdfs(name: RegExp): Change {
  return instead(forNothing, (_request, reply) => name.test(fileName(reply)));
}

/** The pages of the first PDF of one kind stand in the place of another's; the bytes are still each its own. */
export function withPagesOf(first: RegExp, others: RegExp): Change {
  let pages: Buffer | undefined;
  return answer((reply) => {
    if (first.test(fileName(reply))) pages ??= reply.body;
    if (!pages || !others.test(fileName(reply))) return reply;
    return withBody(reply, Buffer.concat([pages, Buffer.from(`\n%${fileName(reply)}\n%%EOF\n`)]));
  }, isPdf);
}

export function samePdf(): Change {
  let first: string | undefined;
  return inPdf((pdf) => (first ??= pdf));
}

/** A PDF has something of its own each time. */
export function newPdf(): Change {
  let count = 0;
  return inPdf((pdf) => `${pdf}%${++count}\n%%EOF\n`);
}

/** A PDF whose one page shows the name of its file, and nothing else. */
export function barePdf(): Change {
  return answer((reply) => {
    const stream = `BT /F1 12 Tf 50 700 Td (${fileName(reply).replace('.pdf', '')}) Tj ET`;
    const lines = [
      '%PDF-1.7\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj',
      '3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>endobj',
      `4 0 obj<</Length ${stream.length}>>stream\n${stream}\nendstream endobj`,
      '5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n',
    ];
    return withBody(reply, lines.join('\n'));
  }, isPdf);
}

/** The reader's answer comes before a refusal where it has a status: 404 and 304 tell of a record. */
export function beforeRefusal(refused: number, told: number): Change {
  return second(refused, 'reader', (own, other) => (other.status === told ? other : own));
}

/** Answers with a status don't tell the allowance. */
export function untold(of: number): Change {
  return both(drop('ratelimit', of), drop('ratelimit-policy', of));
}

/** Another company's record is in a list. */
export function withForeignRecord(path: string): Change {
  return second(200, 'neighbour', (own, other, { target }) => {
    if (target !== path) return own;
    const [ours, theirs] = [own, other].map(({ body }) => JSON.parse(body.toString('utf8')) as ProxiedPage);
    const known = new Set(ours?.data.map(({ id }) => id));
    const foreign = theirs?.data.filter(({ id }) => !known.has(id)) ?? [];
    return withBody(own, JSON.stringify({ ...ours, data: [...(ours?.data ?? []), ...foreign] }));
  });
}

/** A compressed body is another one than the plain. */
export function packed(change: (plain: string) => string): Change {
  return answer(
    (reply) => withBody(reply, gzipSync(change(gunzipSync(reply.body).toString('utf8')))),
    (_request, { headers, body }) => 'content-encoding' in headers && body.length > 0,
  );
}
