const PLACES = /\{(number|amount)\}/g;

/** The problem with a link that can't lead a customer to a payment, as the end of a sentence about it. */
export function problemOfPaymentLink(link: string): string | undefined {
  const [one, other] = ['0', 'x'].map((text) => link.replace(PLACES, text));
  const url = URL.parse(one ?? '');
  if (url?.protocol !== 'https:') return 'is not an https address';
  if (url.username !== '' || url.password !== '') return 'names a user';
  if (/[\s{}]/.test(one ?? '')) return 'has a space, or another place than {number} and {amount}';
  // A number or an amount never decides to which host a customer is led.
  return url.host === URL.parse(other ?? '')?.host ? undefined : 'has a place in its host';
}

/** The address of a payment: a link with the document's number, and the amount as a decimal, in their places. */
export function paymentAddress(link: string, places: { number: string; amount: string }): string {
  const filled = link.replace(PLACES, (_, name: keyof typeof places) =>
    encodeURIComponent(places[name].toWellFormed()),
  );
  return new URL(filled).href;
}
