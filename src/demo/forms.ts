import type { Form } from '../contract/records.ts';
import { DAY_MS, timeText, workingMoment } from './calendar.ts';
import type { FieldPlan, FormPlan } from './form-catalogue.ts';
import type { World } from './world.ts';

export interface DemoForm {
  record: Form;
  plan: FormPlan;
  /** The moments of its revisions; the first is that of its creation. */
  revisedAtMs: readonly number[];
}

/** A form as it is now, created at a moment and revised since as often as its fields tell. */
export function form({ ids, random, stamps, nowMs }: World, createdAtMs: number, plan: FormPlan): DemoForm {
  const revisedAtMs = [createdAtMs];
  const revisionCount = Math.max(...plan.fields.map(sinceRevision));
  while (revisedAtMs.length < revisionCount) {
    const previousMs = revisedAtMs.at(-1) ?? createdAtMs;
    const atMs = workingMoment(previousMs, random.integer(60, 240), random);
    if (atMs >= nowMs - DAY_MS) break;
    revisedAtMs.push(stamps.claim(atMs));
  }
  const revision = revisedAtMs.length;
  return {
    plan,
    revisedAtMs,
    record: {
      id: ids.prefixed('frm', createdAtMs),
      title: plan.title,
      description: plan.description,
      published: plan.published,
      revision,
      fields: fieldsOf(plan, revision).map(({ id, type, label }) => ({ id, type, label })),
      updatedAt: timeText(revisedAtMs.at(-1) ?? createdAtMs),
    },
  };
}

/** The revision in force at a moment. */
export function revisionAt({ revisedAtMs }: DemoForm, atMs: number): number {
  return Math.max(1, revisedAtMs.filter((revisedMs) => revisedMs <= atMs).length);
}

export function fieldsOf(plan: FormPlan, revision: number): FieldPlan[] {
  return plan.fields.filter((field) => sinceRevision(field) <= revision);
}

function sinceRevision(field: FieldPlan): number {
  return field.sinceRevision ?? 1;
}
