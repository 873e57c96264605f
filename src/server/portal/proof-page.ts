import { COME_AGAIN, reauthenticate } from '../features/sign-in/proof.ts';
import { ProofNeededError } from '../store/accounts/authorised-transaction.ts';
import type { Services } from '../views/services.ts';
import { refusedWith } from '../views/page-error.ts';
import { accountField, button, form, textField } from '../views/form.ts';
import { html } from '../views/html.ts';
import { page, type PortalPage, type PageReply, type PortalReply, type Visit } from '../views/visit.ts';

/** Name of the form field for the password or code that proves the visitor's identity. */
const PROOF = 'proof';
/** Names of fields whose values are never written into a page. */
const SECRET_FIELDS = /password|^present$/;

/**
 * Runs an action. If it needs a fresh proof of identity, the reply is the form again, with what was filled in and a field for
 * the proof. When that form is submitted, the proof is checked first.
 */
export async function runWithProof(visit: Visit, services: Services, ask: PortalPage): Promise<PortalReply> {
  const { engine, limits, secrets } = services;
  const { act, form: filled } = visit;
  const given = filled.get(PROOF);
  filled.delete(PROOF);
  try {
    if (given !== null) await reauthenticate(engine, limits, { ...act, given, field: PROOF, secrets });
  } catch (error) {
    const { problems, status } = refusedWith(error, PROOF);
    return { ...proofPage(visit, Object.values(problems)[0]), status };
  }
  try {
    return await ask(visit, services);
  } catch (error) {
    if (error instanceof ProofNeededError) return proofPage(visit);
    throw error;
  }
}

function proofPage(
  { path, formToken, form: filled, administrator: { email, hasPassword, hasSecondFactor } }: Visit,
  problem?: string,
): PageReply {
  const kept = [...filled].filter(([name]) => !SECRET_FIELDS.test(name));
  const title = 'Confirm that it’s you';
  const why = `We haven’t made the change yet. You last confirmed that it’s you more than ten minutes ago.`;
  const proofs = [hasPassword && 'password', hasSecondFactor && 'code of your authenticator app'].filter(
    Boolean,
  );
  if (proofs.length === 0)
    return page(
      title,
      html`<p>${why}</p>
        <p>${COME_AGAIN}</p>`,
      { isRefused: true },
    );
  return page(
    title,
    html`<p>${why} We’ve kept what you entered.</p>
      ${form(
        { formToken },
        { action: path },
        html`${kept.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
        ${accountField(email)}
        ${textField({
          name: PROOF,
          label: `Your ${proofs.join(', or a ')}`,
          problem,
          type: 'password',
          autocomplete: 'current-password',
        })}
        ${button('Confirm and make the change')}`,
      )}`,
    { isRefused: true },
  );
}
