/** A discount or a charge, worked out from what a draft gives. */
import { allowanceReasons, chargeReasons } from '../../contract/code-lists.ts';
import type { Adjustment } from '../../contract/document-amounts.ts';
import { withValue } from '../../contract/document-terms.ts';
import { percentMinor } from '../../contract/exact.ts';
import type { GivenAdjustment } from '../../contract/feed.ts';
import { Refusal, withinRange } from './refusal.ts';
import { isVisible } from './text-rules.ts';

/** The members of a line and of a document that hold them. */
export type List = 'allowances' | 'charges';

const words: Record<List, string> = { allowances: 'discount', charges: 'charge' };

/**
 * Works out a discount or a charge of a line, or of the document.
 * @param whole what a percentage is taken of; of a line below zero, as in a correction, the discount is below zero too
 *   (EN 16931 BT-136 and BT-141, PEPPOL-EN16931-R040).
 * @throws Refusal for a reason or a code that is missing or wrong, an amount that is missing or isn't its percentage, a
 *   discount of more than its base, and an amount below zero elsewhere.
 */
export function adjustmentOf(
  list: List,
  given: GivenAdjustment,
  whole: { minor: number; isBelowZero: boolean },
  path: string,
): Adjustment {
  const { percent } = given;
  refuseBadReason(list, given, path);
  const share =
    percent === undefined
      ? baseOf(list, given, path)
      : shareOf(list, { ...given, percent }, whole.minor, path);
  const amountMinor = given.amountMinor ?? share.amountMinor;
  if (amountMinor === undefined)
    throw new Refusal('invalid_change', `${path} has neither amountMinor nor percent.`, path);
  if (amountMinor < 0 && !whole.isBelowZero) {
    const message = `${path} is ${amountMinor}; a ${words[list]} is below zero only on a line that is.`;
    const member = percent === undefined ? 'amountMinor' : 'percent';
    throw new Refusal('invalid_change', message, `${path}/${member}`);
  }
  return { ...share, amountMinor, ...withValue(given, ['reason', 'reasonCode']) };
}

/** The base of an amount that is no percentage. */
function baseOf(list: List, { amountMinor, baseMinor }: GivenAdjustment, path: string): Partial<Adjustment> {
  if (baseMinor === undefined) return {};
  if (list === 'allowances' && Math.abs(amountMinor ?? 0) > Math.abs(baseMinor)) {
    const message = `${path} is ${amountMinor} of ${baseMinor}; a discount is at most 100 %.`;
    throw new Refusal('invalid_change', message, `${path}/amountMinor`);
  }
  return { baseMinor };
}

/** A percentage with its base, and what it comes to. */
function shareOf(
  list: List,
  { percent, amountMinor, baseMinor: given }: GivenAdjustment & { percent: string },
  wholeMinor: number,
  path: string,
): Required<Pick<Adjustment, 'amountMinor' | 'percent' | 'baseMinor'>> {
  const refuse = (message: string, member: string) => {
    throw new Refusal('invalid_change', message, `${path}/${member}`);
  };
  const baseMinor = given ?? wholeMinor;
  if (list === 'allowances' && Number(percent) > 100)
    refuse(`${path} is ${percent} %; a discount is at most 100 %.`, 'percent');
  const ofBaseMinor = withinRange(path, () => percentMinor(baseMinor, percent));
  // Another program may have rounded otherwise.
  if (amountMinor !== undefined && Math.abs(amountMinor - ofBaseMinor) > 1) {
    const problem = `is ${amountMinor}, and ${percent} % of ${baseMinor} is ${ofBaseMinor}`;
    refuse(`${path}/amountMinor ${problem}.`, 'amountMinor');
  }
  return { amountMinor: ofBaseMinor, percent, baseMinor };
}

/** EN 16931 BR-33, BR-38, BR-42, BR-44, BR-CL-19 and BR-CL-20. */
function refuseBadReason(list: List, { reason, reasonCode }: GivenAdjustment, path: string): void {
  if (reasonCode === undefined && !isVisible(reason))
    throw new Refusal('invalid_change', `${path} has neither reason nor reasonCode.`, `${path}/reason`);
  const [codes, name] = list === 'allowances' ? [allowanceReasons, '5189'] : [chargeReasons, '7161'];
  if (reasonCode === undefined || codes.has(reasonCode)) return;
  const message = `${path}/reasonCode is ${reasonCode}, which isn't a code of UNTDID ${name} for a ${words[list]}.`;
  throw new Refusal('invalid_change', message, `${path}/reasonCode`);
}
