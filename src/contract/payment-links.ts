const PLACES = /\{(number|amount)\}/g;

/** Returns the problem with a payment link, worded to follow its name in a sentence; undefined if the link is valid. */
export function problemOfPaymentLink(link: string): string | undefined {
  const [one, other] = ['0', 'x'].map((text) => link.replace(PLACES, text));
  const url = URL.parse(one ?? '');
  if (url?.protocol !== 'https:') return 'is not an https address';
  if (url.username !== '' || url.password !== '') return 'names a user';
  if (/[\s{}]/.test(one ?? '')) return 'has a space, or another place than {number} and {amount}';
  // A document's number or amount must never decide which host the customer is sent to.
  return url.host === URL.parse(other ?? '')?.host ? undefined : 'has a place in its host';
}

/** Returns the address that a payment link gives for a document: its number and decimal amount are filled in. */
export function paymentAddress(link: string, places: { number: string; amount: string }): string {
  const filled = link.replace(PLACES, (_, name: keyof typeof places) =>
    encodeURIComponent(places[name].toWellFormed()),
  );
  return new URL(filled).href;
}
