import type { Invoice } from '../../contract/records.ts';
import type { IssuedDocumentKind } from '../store/tables/companies.ts';
import type { Move } from './move.ts';
import { Refusal } from './refusal.ts';

/** Refuses a move if the company's business system issues documents of that kind. @throws Refusal `wrong_state`. */
export function mustBeIssuedHere({ company }: Move, kind: Invoice['kind'] | 'quote'): void {
  if (!(company.issuedElsewhere as readonly string[]).includes(kind)) return;
  const message = `The company's business system issues each ${documentKindName(kind)} (issuedElsewhere of company.switch), and so none is issued here; bring it in with ${kind}.import.`;
  throw new Refusal('wrong_state', message, '/change');
}

/** Refuses an import if documents of that kind are issued here. @throws Refusal `wrong_state`. */
export function mustBeIssuedElsewhere({ company }: Move, kind: IssuedDocumentKind): void {
  if (company.issuedElsewhere.includes(kind)) return;
  const message = `Each ${documentKindName(kind)} of the company is issued here, and so none is imported; add ${kind} to its issuedElsewhere with company.switch, for history too.`;
  throw new Refusal('wrong_state', message, '/change');
}

/** Returns the plain-English name of a kind of document, such as "credit note". */
export function documentKindName(kind: Invoice['kind'] | 'quote'): string {
  return kind.replace('_', ' ');
}
