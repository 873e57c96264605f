import { workingMoment } from './calendar.ts';
import type { FieldPlan, FormPlan } from './form-catalogue.ts';
import type { Strand } from './strands.ts';
import { mintId, type World } from './world.ts';

export interface DemoForm {
  id: string;
  plan: FormPlan;
  /** The fields of the revision in force. */
  fields: readonly FieldPlan[];
}

/** A form is made, and revised as often as its fields tell. */
export function* formStrand(world: World, createdAtMs: number, plan: FormPlan): Strand {
  const { random, census } = world;
  if (!census.admit('forms')) return;
  const made: DemoForm = { id: mintId(world, 'frm', createdAtMs), plan, fields: [] };
  const { id } = made;
  const { title, description } = plan;
  const revisionCount = Math.max(...plan.fields.map(sinceRevision));
  for (let revision = 1, atMs = createdAtMs; revision <= revisionCount; revision += 1) {
    if (revision > 1) atMs = yield workingMoment(atMs, random.integer(60, 240), random);
    made.fields = plan.fields.filter((field) => sinceRevision(field) <= revision);
    const fields = made.fields.map(({ id, type, label }) => ({ id, type, label }));
    yield { change: 'form.save', with: { id, title, description, fields } };
    if (revision > 1) continue;
    if (plan.published) yield { change: 'form.publish', with: { id } };
    world.forms.push(made);
  }
}

/** A published form that is filled in on jobs, or one that isn't; undefined when there is none. */
export function someForm({ forms, random }: World, isOnJobs: boolean): DemoForm | undefined {
  const fitting = forms.filter(({ plan }) => plan.published && plan.onJobs === isOnJobs);
  return fitting[random.integer(0, fitting.length - 1)];
}

function sinceRevision(field: FieldPlan): number {
  return field.sinceRevision ?? 1;
}
