import fc from 'fast-check';

import { contractOperations, type ContractParameter } from '../../../src/contract/document.ts';
import { knownPath } from '../../contract/_contract.ts';
import { idleHeaders } from '../../contract/_http-checks.ts';
import { anyText, ids, valueOf } from './_parameter-values.ts';

/** A request of the contract, with what its parameters deserve. */
export interface FuzzedRequest {
  operationId: string;
  method: 'GET' | 'HEAD';
  target: string;
  headers: string[];
  isKnown: boolean;
  /** Whether every query parameter is right. */
  isRight: boolean;
  /** Whether the id in the path is known; the path of most lists has none. */
  id: 'known' | 'unknown' | 'none';
}

const words = (text: string) => text.trim().split(/\s+/);

const unknownNames = fc.constantFrom(
  ...words(
    '__proto__ constructor toString hasOwnProperty Limit LIMIT limit[] limit[$gt] cursor.x updatedsince expand',
  ),
  ...['', '\0', 'limit ', '\u{1f600}', 'a'.repeat(500)],
);

interface Part {
  text: string;
  isRight: boolean;
}

/** A query of some of the operation's parameters, sometimes repeated, sometimes with an unknown one, in any encoding. */
function queryOf(parameters: readonly ContractParameter[]): fc.Arbitrary<Part> {
  const known = parameters.map((parameter) =>
    fc.record({
      name: fc.constant(parameter.name),
      value: fc.oneof(
        { weight: parameter.name === 'cursor' ? 1 : 4, arbitrary: valueOf(parameter) },
        { weight: 8, arbitrary: fc.constant(undefined) },
      ),
      times: fc.constantFrom(...nine(1), ...nine(1), 2, 3),
    }),
  );
  const unknown = fc.oneof(
    { weight: 1, arbitrary: fc.record({ name: unknownNames, value: anyText }) },
    { weight: 12, arbitrary: fc.constant(undefined) },
  );
  const separators = fc.constantFrom('&', '&', '&', '&&');
  return fc
    .record({
      known: fc.tuple(...known),
      unknown,
      separators,
      encode,
      isBroken: fc.constantFrom(...nine(false), ...nine(false), true),
    })
    .map(({ known: given, unknown: other, separators: separator, encode: encodeText, isBroken }) => {
      const pairs = given.flatMap(({ name, value, times }) =>
        value === undefined ? [] : Array.from({ length: times }, () => `${name}=${encodeText(value.text)}`),
      );
      const isRight = given.every(
        ({ value, times }) => value === undefined || (value.isRight && times === 1),
      );
      if (other) pairs.push(`${encodeText(other.name)}=${encodeText(other.value)}`);
      // An escape that means nothing is read as it stands, and is no value of any parameter.
      if (isBroken) pairs.push('limit=%E0%A4%A');
      return { text: pairs.join(separator), isRight: isRight && !other && !isBroken };
    });
}

const nine = <T>(value: T): T[] => Array.from({ length: 9 }, () => value);

const encode = fc.constantFrom(
  encodeURIComponent,
  (text: string) => encodeURIComponent(text).replaceAll('%20', '+'),
  (text: string) =>
    [...Buffer.from(text, 'utf8')].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
  (text: string) => encodeURIComponent(text).replaceAll(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase()),
);

/** Ids in the path, of which the last ones are known to the server. */
function pathIdOf(known: string, isUuid: boolean): fc.Arbitrary<{ text: string; id: 'known' | 'unknown' }> {
  const unknown = isUuid
    ? fc.oneof(
        fc.uuid(),
        fc.constantFrom(
          known.slice(1),
          `${known}0`,
          `{${known}}`,
          `urn:uuid:${known}`,
          known.replaceAll('-', ''),
        ),
      )
    : fc.oneof(
        ids.map(({ text }) => `no.${text}`.slice(0, 64)),
        fc.constantFrom(`${known}x`, known.toUpperCase()),
      );
  const odd = anyText.filter((text) => text !== '').map(encodeURIComponent);
  const broken = fc.constantFrom(...words('% %zz %E0%A4%A %2e%2e .. . %2F %5c * ; @ %00 %ff'));
  return fc.oneof(
    {
      weight: 3,
      arbitrary: fc
        .constantFrom(known, ...(isUuid ? [known.toUpperCase()] : []))
        .map((text) => ({ text, id: 'known' as const })),
    },
    fc.oneof(unknown, odd, broken).map((text) => ({ text, id: 'unknown' as const })),
  );
}

/** Content-Length and Transfer-Encoding together are another kind of request. */
const framingOrName = (header: string) =>
  header.split(':')[0]?.replace(/^(Content-Length|Transfer-Encoding)$/, 'framing');

const harmless = fc.constantFrom(
  ...Object.entries(idleHeaders).flatMap(([name, values]) => values.map((value) => `${name}: ${value}`)),
  ...['gzip', 'gzip;q=0, br, *;q=zz', ',,,;q=1'].map((codings) => `Accept-Encoding: ${codings}`),
  ...['W/"x",,"', '"nothing", W/"else"'].map((tags) => `If-None-Match: ${tags}`),
  ...['Content-Length: 0', 'Transfer-Encoding: chunked\r\nConnection: close', 'TE: trailers'],
  ...['Upgrade: websocket\r\nConnection: Upgrade', 'X-Forwarded-For: 1.2.3.4, [::1, unknown'],
  ...['Cookie: __proto__=1; =; a', 'X-Request-Id: \xff\xfe', `X-Long: ${'x'.repeat(8_000)}`],
);

/** Requests of every operation: with a right key or a wrong one, right and wrong parameters, and any headers, of the example company. */
export function fuzzedRequests(key: string): fc.Arbitrary<FuzzedRequest> {
  const right = Array.from({ length: 45 }, () => key);
  const wrong = ['', 'x', `${key}x`, `xx${key}`, key.toUpperCase(), '\xff', '.'.repeat(50)];
  const keys = fc.constantFrom(...right, ...wrong);
  return fc.constantFrom(...contractOperations()).chain(({ operationId, path, parameters }) => {
    const [template] = /\{\w+\}/.exec(path) ?? [];
    const knownId = knownPath(operationId).split('/')[path.split('/').indexOf(template ?? '')] ?? '';
    const pathId =
      template === undefined ? fc.constant(undefined) : pathIdOf(knownId, /^[0-9a-f-]{36}$/.test(knownId));
    return (
      fc
        .record({
          method: fc.constantFrom('GET' as const, 'GET' as const, 'GET' as const, 'HEAD' as const),
          pathId,
          query: queryOf(parameters.filter((parameter) => parameter.in === 'query')),
          key: keys,
          headers: fc.uniqueArray(harmless, { maxLength: 3, selector: framingOrName }),
        })
        .map(({ method, pathId: id, query, key: sent, headers }): FuzzedRequest => {
          const filled = template === undefined || !id ? path : path.replace(template, () => id.text);
          return {
            operationId,
            method,
            target: query.text === '' ? filled : `${filled}?${query.text}`,
            headers: ['Host: x', `Authorization: Bearer ${sent}`, ...headers],
            isKnown: sent === key,
            isRight: query.isRight,
            id: id?.id ?? 'none',
          };
        })
        // A longer one is refused before it is read; that is tried elsewhere.
        .filter((request) => wireOf(request).length < 15_000)
    );
  });
}

/** The request as it goes over the wire. */
export function wireOf({ method, target, headers }: FuzzedRequest): string {
  const isChunked = headers.some((header) => header.startsWith('Transfer-Encoding'));
  return `${method} ${target} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n${isChunked ? '0\r\n\r\n' : ''}`;
}
