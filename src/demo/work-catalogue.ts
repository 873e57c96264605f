/** The company's services and prices. It is a building-services firm in Ireland. Prices are in cents without VAT. */
export interface Work {
  /** Title of the job, the quote and the first line. */
  title: string;
  jobTypeId: string;
  /** In basis points, where Irish VAT is charged. */
  rateBasisPoints: number;
  items: readonly [WorkItem, ...WorkItem[]];
}

export interface WorkItem {
  description: string;
  unitCode: string;
  quantities: readonly [string, ...string[]];
  unitPriceMinor: number;
}

const STANDARD = 2300;
const REDUCED = 1350;
const HEAT_PUMPS = 900;

const item = (
  description: string,
  unitCode: string,
  quantities: readonly [string, ...string[]],
  unitPriceMinor: number,
): WorkItem => ({ description, unitCode, quantities, unitPriceMinor });

const hours = ['1', '1.5', '2', '2.5', '3', '4', '6.25', '7.5'] as const;
const few = ['1', '2', '3', '4'] as const;
const one = ['1'] as const;
const metres = ['3.5', '6', '8.2', '12', '17.75', '24.125', '40'] as const;

const callOut = item('Call-out charge', 'C62', one, 6_500);
const labour = item('Labour, qualified fitter', 'HUR', hours, 6_200);
const apprentice = item('Labour, apprentice', 'HUR', hours, 3_450);
const travel = item('Travel beyond 30 km', 'KMT', ['12', '18.5', '44', '61.3'], 79);

export const everydayWork: readonly [Work, ...Work[]] = [
  {
    title: 'Boiler service',
    jobTypeId: 'jtp_service',
    rateBasisPoints: REDUCED,
    items: [
      item('Annual boiler service with combustion analysis', 'E51', one, 11_500),
      item('Replace expansion vessel', 'H87', one, 14_875),
      item('Magnetic filter clean', 'C62', one, 3_333),
    ],
  },
  {
    title: 'Boiler repair',
    jobTypeId: 'jtp_repair',
    rateBasisPoints: REDUCED,
    items: [callOut, labour, item('Circulation pump 15-60', 'H87', one, 18_995), travel],
  },
  {
    title: 'Heat pump installation',
    jobTypeId: 'jtp_install',
    rateBasisPoints: HEAT_PUMPS,
    items: [
      item('Air-to-water heat pump, 8 kW, supplied and fitted', 'SET', one, 689_500),
      item('Buffer tank, 200 l', 'H87', one, 84_900),
      item('Insulated pipework', 'MTR', metres, 2_795),
      apprentice,
    ],
  },
  {
    title: 'Bathroom refit',
    jobTypeId: 'jtp_install',
    rateBasisPoints: REDUCED,
    items: [
      item('Strip out and make ready', 'DAY', few, 42_000),
      item('Tiling, supplied and laid', 'MTK', metres, 6_450),
      item('Thermostatic shower, fitted', 'SET', one, 58_700),
      labour,
    ],
  },
  {
    title: 'Electrical inspection',
    jobTypeId: 'jtp_inspection',
    rateBasisPoints: STANDARD,
    items: [
      item('Periodic inspection, per distribution board', 'H87', few, 18_500),
      item('Written report and certificate', 'C62', one, 9_500),
    ],
  },
  {
    title: 'Fire alarm maintenance',
    jobTypeId: 'jtp_service',
    rateBasisPoints: STANDARD,
    items: [
      item('Quarterly inspection to I.S. 3218', 'E48', one, 24_000),
      item('Smoke detector, replaced', 'H87', few, 4_725),
      item('Standby battery 12 V 7 Ah', 'PR', few, 6_180),
    ],
  },
  {
    title: 'Leak investigation',
    jobTypeId: 'jtp_repair',
    rateBasisPoints: REDUCED,
    items: [callOut, item('Thermal imaging survey', 'HUR', hours, 8_750), labour, travel],
  },
  {
    title: 'Emergency lighting repair',
    jobTypeId: 'jtp_repair',
    rateBasisPoints: STANDARD,
    items: [callOut, item('LED emergency luminaire', 'H87', few, 7_199), labour],
  },
];

/** Solar panels on private dwellings are zero-rated in Ireland (VATCA 2010, Schedule 2). */
export const solarWork: Work = {
  title: 'Solar panels',
  jobTypeId: 'jtp_install',
  rateBasisPoints: 0,
  items: [
    item('Solar panel 440 W, supplied and fitted', 'H87', ['8', '10', '12', '14'], 31_250),
    item('Hybrid inverter 5 kW, supplied and fitted', 'SET', one, 148_000),
  ],
};

export const trainingWork: Work = {
  title: 'Fire safety training',
  jobTypeId: 'jtp_training',
  rateBasisPoints: 0,
  items: [
    item('Fire warden course, half a day', 'E48', few, 39_500),
    item('Certificate, per person', 'C62', ['6', '9', '14'], 1_250),
  ],
};

export const goodsWork: Work = {
  title: 'Spare parts',
  jobTypeId: 'jtp_supply',
  rateBasisPoints: STANDARD,
  items: [
    item('Plate heat exchanger', 'H87', few, 12_640),
    item('Refrigerant hose', 'MTR', metres, 1_185),
    item('Corrosion inhibitor', 'LTR', ['2.5', '5', '25'], 1_399),
  ],
};

export const damageCompensation: Work = {
  title: 'Damage to hired equipment',
  jobTypeId: 'jtp_supply',
  rateBasisPoints: 0,
  items: [item('Compensation for a damaged dehumidifier', 'C62', one, 18_000)],
};

/** Services that are invoiced by the month or the quarter, without a job of their own. */
export const contractWork: readonly [Work, ...Work[]] = [
  {
    title: 'Maintenance contract',
    jobTypeId: 'jtp_service',
    rateBasisPoints: STANDARD,
    items: [
      item('Maintenance of heating plant, monthly fee', 'MON', one, 48_500),
      item('Remote monitoring', 'MON', one, 4_950),
      item('Energy passed on', 'KWH', ['318.25', '1204.5', '2050'], 31),
    ],
  },
  {
    title: 'Lift and pump standby service',
    jobTypeId: 'jtp_service',
    rateBasisPoints: STANDARD,
    items: [item('Standby service, 24 hours', 'MON', one, 31_750)],
  },
];
