/** The forms of the company. Between them they have a field of every type there is. */
export interface FormPlan {
  title: string;
  description: string;
  published: boolean;
  /** Filled in on a job; the others on their own. */
  onJobs: boolean;
  fields: readonly FieldPlan[];
}

export interface FieldPlan {
  id: string;
  type: string;
  label: string;
  /** The revision with which it came; 1 when absent. */
  sinceRevision?: number;
  /** How far ahead a date may lie; it is the day itself when absent. */
  daysAheadMax?: number;
  /** The answers to choose from: options, or plausible texts. */
  choices?: readonly [string, ...string[]];
}

export const formPlans: readonly FormPlan[] = [
  {
    title: 'Gas boiler service record',
    description: 'To be completed at every boiler service (I.S. 813).',
    published: true,
    onJobs: true,
    fields: [
      { id: 'sec_appliance', type: 'section', label: 'Appliance' },
      { id: 'model', type: 'text', label: 'Make and model', choices: ['Vaillant ecoTEC plus 832', 'Grant Vortex 26', 'Ideal Logic Max 30', 'Worcester 4000'] }, // prettier-ignore
      { id: 'flue_ok', type: 'yesno', label: 'Is the flue sound?' },
      { id: 'co2_percent', type: 'number', label: 'CO2 in the flue gas, %' },
      { id: 'plate', type: 'photo', label: 'Photo of the data plate' },
      { id: 'sec_result', type: 'section', label: 'Result' },
      {
        id: 'condition',
        type: 'select',
        label: 'Condition',
        choices: ['Good', 'Fair', 'Replace soon', 'Unsafe'],
      },
      { id: 'work_done', type: 'multiselect', label: 'Work done', choices: ['Cleaned burner', 'Replaced seals', 'Set gas pressure', 'Flushed condensate trap'] }, // prettier-ignore
      { id: 'remarks', type: 'longtext', label: 'Remarks', sinceRevision: 2, choices: ['Customer advised to fit a carbon monoxide alarm.', 'Nothing to note.', 'Slight corrosion at the return.\nTo be watched at the next service.'] }, // prettier-ignore
      { id: 'next_due', type: 'date', label: 'Next service due', sinceRevision: 2, daysAheadMax: 365 },
      { id: 'engineer', type: 'signature', label: 'Signature of the engineer' },
    ],
  },
  {
    title: 'Risk assessment',
    description: 'Before work starts.',
    published: true,
    onJobs: true,
    fields: [
      { id: 'arrived_at', type: 'time', label: 'Time of arrival' },
      { id: 'hazards', type: 'multiselect', label: 'Hazards', choices: ['Working at height', 'Asbestos suspected', 'Live electricity', 'Confined space', 'Traffic'] }, // prettier-ignore
      { id: 'controls', type: 'yesno', label: 'Are the controls in place?' },
      { id: 'photo', type: 'photo', label: 'Photo of the work area', sinceRevision: 3 },
      { id: 'permit', type: 'file', label: 'Permit to work', sinceRevision: 2 },
    ],
  },
  {
    title: 'Fire alarm test sheet',
    description: 'Quarterly test to I.S. 3218.',
    published: true,
    onJobs: true,
    fields: [
      {
        id: 'panel',
        type: 'text',
        label: 'Panel',
        choices: ['Zeta 4-zone', 'Advanced MxPro 5', 'Morley ZX2Se'],
      },
      { id: 'zones_tested', type: 'number', label: 'Zones tested' },
      { id: 'tested_at', type: 'datetime', label: 'Date and time of the test' },
      { id: 'faults', type: 'yesno', label: 'Were there faults?' },
      { id: 'fault_notes', type: 'longtext', label: 'Which faults?', choices: ['Detector 2/14 contaminated.', 'Battery below 12 V, replaced.'] }, // prettier-ignore
      { id: 'log', type: 'file', label: 'Log of the panel' },
    ],
  },
  {
    title: 'Job sign-off',
    description: '',
    published: true,
    onJobs: true,
    fields: [
      { id: 'satisfied', type: 'yesno', label: 'Is the customer satisfied?' },
      { id: 'rating', type: 'select', label: 'Rating', choices: ['5', '4', '3', '2', '1'] },
      { id: 'customer_signature', type: 'signature', label: 'Signature of the customer' },
    ],
  },
  {
    title: 'Van check',
    description: 'Every Monday.',
    published: true,
    onJobs: false,
    fields: [
      {
        id: 'registration',
        type: 'text',
        label: 'Registration',
        choices: ['191-D-40123', '221-KE-1187', '232-C-9034'],
      },
      { id: 'odometer_km', type: 'number', label: 'Odometer, km' },
      { id: 'lights', type: 'yesno', label: 'Do all lights work?' },
      { id: 'tyres', type: 'yesno', label: 'Are the tyres sound?' },
      { id: 'damage', type: 'photo', label: 'Photo of any damage' },
    ],
  },
  {
    title: 'Toolbox talk',
    description: 'Attendance at a safety talk.',
    published: true,
    onJobs: false,
    fields: [
      {
        id: 'topic',
        type: 'select',
        label: 'Topic',
        choices: ['Manual handling', 'Ladders', 'Refrigerants', 'Driving'],
      },
      { id: 'held_on', type: 'date', label: 'Date' },
      { id: 'started_at', type: 'time', label: 'Start' },
      { id: 'attendance', type: 'file', label: 'Attendance sheet' },
    ],
  },
  {
    title: 'Heat pump commissioning',
    description: 'Being prepared; not for use yet.',
    published: false,
    onJobs: true,
    fields: [
      { id: 'flow_c', type: 'number', label: 'Flow temperature, °C' },
      { id: 'refrigerant', type: 'select', label: 'Refrigerant', choices: ['R290', 'R32'] },
    ],
  },
];
