import { createHmac } from 'node:crypto';

/**
 * The value of `Service-Signature`: `t=<unix seconds>,v1=<hex>`, where `v1` is the HMAC-SHA256 of `<t>.<body>` keyed
 * with the whole secret as it was shown, `whsec_` included (service.md, "Signature").
 * @param body the bytes that are sent; a text is sent as UTF-8.
 * @param at the time of this attempt: a receiver refuses a signature that is older than 5 minutes.
 */
export function signatureOf(secret: string, body: Buffer | string, at: Date): string {
  const t = Math.floor(at.getTime() / 1000);
  const v1 = createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex');
  return `t=${t},v1=${v1}`;
}
