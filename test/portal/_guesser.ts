import { hiddenFields, type TestPortal, textOf } from './_portal.ts';

/** Sends guesses as a program does: with one browser, as if from addresses of its choice. */
export async function guesser(portal: TestPortal) {
  const visitor = portal.visitor();
  await visitor.visit('/portal/sign-in');
  const hidden = hiddenFields(visitor.shown, '/portal/sign-in');
  return async (email: string, password: string, address = '198.51.100.7') => {
    const fields = { ...hidden, email, password };
    const { statusCode, body } = await visitor
      .copy()
      .send('/portal/sign-in', fields, { 'x-forwarded-for': address });
    return { statusCode, text: textOf(body) };
  };
}
