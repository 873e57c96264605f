import type { ChangeContent } from '../../../src/contract/feed.ts';
import type { Given, TestCompany, TestBackoffice } from './_backoffice.ts';

/** Changes that can be made, as far as nothing else is said. */

export function personSave(given: Partial<ChangeContent<'person.save'>> = {}): Given<'person.save'> {
  return {
    change: 'person.save',
    with: {
      displayName: 'Aoife Byrne',
      email: 'aoife@brennan.example',
      roleId: 'role_1',
      roleName: 'Engineer',
      ...given,
    },
  };
}

export function customerSave(given: Partial<ChangeContent<'customer.save'>> = {}): Given<'customer.save'> {
  return {
    change: 'customer.save',
    with: {
      name: 'Harbour View Hotel',
      addressLines: ['1 Quay Street', 'Galway'],
      countryCode: 'IE',
      currency: 'EUR',
      paymentTermsDays: 30,
      ...given,
    },
  };
}

/** A site of a customer. */
export const siteOf = (id = 'site_1') => ({
  ...{ id, label: 'Boiler house', addressLines: ['Unit 3', 'Dock Road'], countryCode: 'IE' },
  ...{ postcode: 'V94 X2Y3', geo: { lat: 52.66, lng: -8.63 } },
});

export function jobCreate(given: Partial<ChangeContent<'job.create'>> = {}): Given<'job.create'> {
  return {
    change: 'job.create',
    with: {
      title: 'Service the boiler',
      statusLabelId: 'label_1',
      customerId: 'cus_1',
      jobTypeId: 'type_1',
      jobTypeVersion: 1,
      createdBy: 'per_1',
      ...given,
    },
  };
}

export function formSave(given: Partial<ChangeContent<'form.save'>> = {}): Given<'form.save'> {
  return {
    change: 'form.save',
    with: { title: 'Safety check', fields: [{ id: 'fld_1', type: 'yesno', label: 'Is it safe?' }], ...given },
  };
}

/** A company with the people `per_1` and `per_2` and the customer `cus_1`. */
export async function openStaffedCompany(
  openCompany: TestBackoffice['openCompany'],
  settings: Parameters<TestBackoffice['openCompany']>[0] = {},
): Promise<TestCompany> {
  const company = await openCompany(settings);
  await company.apply(personSave({ id: 'per_1' }));
  await company.apply(personSave({ id: 'per_2', displayName: 'Brian Kelly' }));
  await company.apply(customerSave({ id: 'cus_1' }));
  return company;
}
