import type { Agenda } from './agenda.ts';
import type { Stamps } from './calendar.ts';
import type { Ids } from './ids.ts';
import type { Random } from './random.ts';

/** What every record of the company is made with. */
export interface World {
  random: Random;
  ids: Ids;
  stamps: Stamps;
  agenda: Agenda;
  /** The last moment of the company's history; what would be later has not happened. */
  nowMs: number;
}
