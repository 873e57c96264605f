import type { Module } from '../../contract/scopes.ts';
import { maySee, type Switches, type WithholdingReason, whyWithheld } from '../../contract/withholding.ts';
import { supportLink } from './formats.ts';
import { type Html, html } from './html.ts';
import { warning } from './notice.ts';
import { PageError } from './page-error.ts';
import type { Visit } from './visit.ts';

/** Renders a warning when the API and all webhooks are stopped; false when they aren't. */
export function stoppedWarning({
  company: { subscriptionActive, apiEnabled },
  supportUrl,
}: Pick<Visit, 'company' | 'supportUrl'>): Html | false {
  if (!subscriptionActive)
    return warning(
      html`The subscription is not active, so the API answers 403 company_unavailable and no webhook is sent.
      ${supportLink('Renew it', supportUrl)} to go on.`,
    );
  if (!apiEnabled)
    return warning(
      html`API access is off, so the API answers 403 api_not_enabled and no webhook is sent. Ask
      ${supportLink('your account manager', supportUrl)} to switch it on.`,
    );
  return false;
}

export function whyNotShown(
  { administrator, company }: Pick<Visit, 'administrator' | 'company'>,
  module: Module,
): string | undefined {
  if (!maySee(administrator.scopes, module))
    return `You don’t have the scope ${module}:read. Ask an administrator who has it.`;
  return whyNot(company, module);
}

const reasons: Record<WithholdingReason, string> = {
  company_unavailable: 'The subscription is not active.',
  api_not_enabled: 'API access is off.',
  module_not_licensed: 'Your plan does not include it.',
  invoicing_not_enabled: 'Invoicing is not switched on.',
};

/** Explains in a sentence why the API withholds a company's data; undefined when it doesn't. */
export function whyNot(company: Switches, module: Module | undefined): string | undefined {
  const reason = whyWithheld(company, module);
  return reason && reasons[reason];
}

/** @throws PageError when the administrator can't see documents, whether or not the document exists. */
export function refuseWithoutDocuments(visit: Visit): void {
  const reason = whyNotShown(visit, 'invoices');
  if (reason !== undefined) throw new PageError(403, 'Documents are not shown', reason);
}
