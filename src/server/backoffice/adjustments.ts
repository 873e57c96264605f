/** Computes a discount or a charge from a draft. */
import { allowanceReasons, chargeReasons } from '../../contract/code-lists.ts';
import type { Adjustment } from '../../contract/document-amounts.ts';
import { pickDefined } from '../../contract/document-terms.ts';
import { percentMinor } from '../../contract/exact.ts';
import type { GivenAdjustment } from '../../contract/feed.ts';
import { Refusal, withinRange } from './refusal.ts';
import { isVisible } from './text-rules.ts';

/** The names of the members that list a line's or document's discounts and charges. */
export type List = 'allowances' | 'charges';

const words: Record<List, string> = { allowances: 'discount', charges: 'charge' };

/**
 * Returns a discount or charge, computed from the draft of a line or of the whole document.
 * @param whole the amount that a percentage applies to; a line below zero, as in a correction, has negative discounts (EN
 * 16931 BT-136 and BT-141, PEPPOL-EN16931-R040).
 * @throws Refusal for a missing or wrong reason or code, an amount that is missing or isn't its percentage, a discount that
 * exceeds its base, and a negative amount elsewhere.
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
  return { ...share, amountMinor, ...pickDefined(given, ['reason', 'reasonCode']) };
}

/** Returns the base amount of a discount or charge without a percentage; empty if none is given. */
function baseOf(list: List, { amountMinor, baseMinor }: GivenAdjustment, path: string): Partial<Adjustment> {
  if (baseMinor === undefined) return {};
  if (list === 'allowances' && Math.abs(amountMinor ?? 0) > Math.abs(baseMinor)) {
    const message = `${path} is ${amountMinor} of ${baseMinor}; a discount is at most 100 %.`;
    throw new Refusal('invalid_change', message, `${path}/amountMinor`);
  }
  return { baseMinor };
}

/** Returns the base and resulting amount of a discount or charge that is given as a percentage. */
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
  // The business system may round differently.
  if (amountMinor !== undefined && Math.abs(amountMinor - ofBaseMinor) > 1) {
    const problem = `is ${amountMinor}, and ${percent} % of ${baseMinor} is ${ofBaseMinor}`;
    refuse(`${path}/amountMinor ${problem}.`, 'amountMinor');
  }
  return { amountMinor: ofBaseMinor, percent, baseMinor };
}

/** Refuses a missing or unknown reason of a discount or charge (EN 16931 BR-33, 38, 42, 44, BR-CL-19 and BR-CL-20). */
function refuseBadReason(list: List, { reason, reasonCode }: GivenAdjustment, path: string): void {
  if (reasonCode === undefined && !isVisible(reason))
    throw new Refusal('invalid_change', `${path} has neither reason nor reasonCode.`, `${path}/reason`);
  const [codes, name] = list === 'allowances' ? [allowanceReasons, '5189'] : [chargeReasons, '7161'];
  if (reasonCode === undefined || codes.has(reasonCode)) return;
  const message = `${path}/reasonCode is ${reasonCode}, which isn't a code of UNTDID ${name} for a ${words[list]}.`;
  throw new Refusal('invalid_change', message, `${path}/reasonCode`);
}
