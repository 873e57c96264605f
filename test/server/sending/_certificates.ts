import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

export interface Certificate {
  key: string;
  cert: string;
}

export interface Authority {
  /** The authority's own certificate, in PEM. */
  ca: string;
  issue: (options: { names: string[]; notAfter?: Date }) => Certificate;
}

const DAY_MS = 86_400_000;

/** An authority that exists for a test: it issues certificates for P-256 keys (RFC 5280). */
export function createAuthority(): Authority {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const issuer = 'Authority of a test';
  const build = (subject: string, key: KeyObject, extensions: Buffer[], notAfter?: Date) =>
    pemOf(signed(certificate({ issuer, subject, key, extensions, notAfter }), privateKey));
  return {
    ca: build(issuer, publicKey, [extension(BASIC_CONSTRAINTS, der(SEQUENCE, der(BOOLEAN, [0xff])))]),
    issue: ({ names, notAfter }) => {
      const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const alternatives = der(SEQUENCE, ...names.map((name) => der(DNS_NAME, Buffer.from(name, 'latin1'))));
      return {
        key: pair.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
        cert: build('Receiver', pair.publicKey, [extension(SUBJECT_ALT_NAME, alternatives)], notAfter),
      };
    },
  };
}

// Tags of ITU-T X.690, and object identifiers as they are encoded.
const [BOOLEAN, INTEGER, BIT_STRING, OCTET_STRING, OBJECT_ID] = [0x01, 0x02, 0x03, 0x04, 0x06];
const [UTF8, GENERALIZED_TIME, SEQUENCE, SET] = [0x0c, 0x18, 0x30, 0x31];
/** Context-specific: a dNSName of GeneralName, and `version` and `extensions` of TBSCertificate. */
const [DNS_NAME, VERSION, EXTENSIONS] = [0x82, 0xa0, 0xa3];
const COMMON_NAME = der(OBJECT_ID, [0x55, 0x04, 0x03]);
const BASIC_CONSTRAINTS = der(OBJECT_ID, [0x55, 0x1d, 0x13]);
const SUBJECT_ALT_NAME = der(OBJECT_ID, [0x55, 0x1d, 0x11]);
const ECDSA_WITH_SHA256 = der(SEQUENCE, der(OBJECT_ID, [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02]));

function certificate(fields: {
  issuer: string;
  subject: string;
  key: KeyObject;
  extensions: Buffer[];
  notAfter: Date | undefined;
}): Buffer {
  const notAfter = fields.notAfter ?? new Date(Date.now() + DAY_MS);
  const notBefore = new Date(Math.min(Date.now(), notAfter.getTime()) - DAY_MS);
  return der(
    SEQUENCE,
    der(VERSION, der(INTEGER, [2])),
    der(INTEGER, [0x01], randomBytes(8)),
    ECDSA_WITH_SHA256,
    nameOf(fields.issuer),
    der(SEQUENCE, timeOf(notBefore), timeOf(notAfter)),
    nameOf(fields.subject),
    fields.key.export({ type: 'spki', format: 'der' }),
    der(EXTENSIONS, der(SEQUENCE, ...fields.extensions)),
  );
}

function signed(content: Buffer, key: KeyObject): Buffer {
  return der(SEQUENCE, content, ECDSA_WITH_SHA256, der(BIT_STRING, [0], sign('sha256', content, key)));
}

function nameOf(commonName: string): Buffer {
  return der(SEQUENCE, der(SET, der(SEQUENCE, COMMON_NAME, der(UTF8, Buffer.from(commonName)))));
}

function timeOf(time: Date): Buffer {
  return der(GENERALIZED_TIME, Buffer.from(`${time.toISOString().replace(/\D/g, '').slice(0, 14)}Z`));
}

function extension(id: Buffer, value: Buffer): Buffer {
  return der(SEQUENCE, id, der(OCTET_STRING, value));
}

function der(tag: number, ...contents: (Uint8Array | number[])[]): Buffer {
  const content = Buffer.concat(contents.map((part) => Uint8Array.from(part)));
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Uint8Array.from([tag, ...size]), content]);
}

function pemOf(content: Buffer): string {
  const lines = content.toString('base64').replace(/.{64}/g, '$&\n').trimEnd();
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
}
