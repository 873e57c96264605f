/** Returns an account number in upper case without spaces; empty if none is given. */
export function compactAccount(account: string | undefined): string {
  return (account ?? '').replace(/\s+/g, '').toUpperCase();
}

/** Whether a text is an IBAN (ISO 13616): with its first four characters last and A to Z as 10 to 35, it is 1 modulo 97. */
export function isIban(account: string): boolean {
  if (!/^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/.test(account)) return false;
  const digits = `${account.slice(4)}${account.slice(0, 4)}`.replace(/[A-Z]/g, (letter) =>
    String(letter.charCodeAt(0) - 55),
  );
  return BigInt(digits) % 97n === 1n;
}

/** Whether a text has the form of a BIC (ISO 9362): bank, country, location and optional branch. */
export function isBic(bic: string): boolean {
  return /^[A-Z]{6}[A-Z0-9]{2}(?:[A-Z0-9]{3})?$/.test(bic);
}
