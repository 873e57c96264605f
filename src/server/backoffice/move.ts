import { isDeepStrictEqual } from 'node:util';

import { companyDay } from '../../contract/company-time.ts';
import type { SubscribableKind } from '../../contract/events.ts';
import type { JsonText } from '../../contract/json-text.ts';
import type { RecordOf, Resource, ResourceRecord } from '../../contract/records.ts';
import {
  InvalidRecordError,
  type RenderedRecord,
  renderRecord,
  joinRecordTexts,
} from '../../contract/render.ts';
import { quote } from '../../errors.ts';
import type { StoreTransaction } from '../store/engines/engine.ts';
import type { CompanyEvent } from '../store/records/events.ts';
import { type LockedCompany, setLastStamp } from '../store/records/moves.ts';
import { addHandOver } from '../store/records/hand-overs.ts';
import { findTexts, hasRecord, putRecord, removeRecord } from '../store/records/record-writes.ts';
import {
  findSupplier,
  keepSupplier,
  type KeptSupplier,
  type ShownSupplier,
  type Supplier,
} from '../store/records/suppliers.ts';
import { derivedTerms } from './document-terms.ts';
import { createIds } from '../process/ids.ts';
import type { Backoffice } from './backoffice.ts';
import { Refusal } from './refusal.ts';
import { readTime } from './times.ts';
import type { AnyUnpublished, Stored } from './unpublished.ts';

/** A record that still lacks `updatedAt`, which is set when it is written. */
type Unstamped<R extends Resource> = Omit<RecordOf[R], 'updatedAt'>;

/** Resources whose records have `updatedAt`. */
type StampedResource = { [R in Resource]: RecordOf[R] extends { updatedAt: string } ? R : never }[Resource];

/**
 * One change to one company, while its transaction is open and the company locked. Records are written as they are put, and
 * events by `finish`.
 */
export class Move {
  readonly company: LockedCompany;
  readonly transaction: StoreTransaction;
  /** The time of the change, in UTC with milliseconds. */
  readonly at: string;
  /** The company's calendar day at the time of the change, `YYYY-MM-DD`. */
  readonly today: string;
  /** The clock's time; undefined if the change gives its own time instead. */
  readonly clock: Date | undefined;
  readonly #backoffice: Backoffice;
  readonly #ids;
  readonly #now: Date;
  readonly #nowMs: number;
  #lastStampMs: number;
  #mintedMs = 0;
  #isQuiet = false;
  readonly #events: CompanyEvent[] = [];
  #supplier: ShownSupplier | undefined;

  constructor(
    backoffice: Backoffice,
    transaction: StoreTransaction,
    company: LockedCompany,
    times: { at: Date; now: Date },
  ) {
    this.company = company;
    this.at = times.at.toISOString();
    this.today = companyDay(company.timeZone, times.at);
    this.#backoffice = backoffice;
    this.transaction = transaction;
    this.#ids = createIds(backoffice.random);
    this.#now = times.now;
    this.clock = times.at === times.now ? times.now : undefined;
    this.#nowMs = Math.max(times.now.getTime(), backoffice.hasReaders ? company.servedMs : 0);
    this.#lastStampMs = company.lastStampMs;
  }

  /**
   * Returns the next `updatedAt`: now, or a millisecond after the company's last one, whichever is later. Stamps thus
   * grow strictly within a company, even when the clock goes back. None is earlier than a time that readers were given
   * in a `Date` header.
   */
  stamp(): string {
    this.#lastStampMs = Math.max(this.#nowMs, this.#lastStampMs + 1);
    return new Date(this.#lastStampMs).toISOString();
  }

  /** Returns a time given by the business system, parsed. @throws Refusal `invalid_change`. */
  readTime(time: string, path: string): string {
    return readTime(time, this.#now, path).toISOString();
  }

  /** Returns the company's calendar day at a time. */
  dayOf(time: string): string {
    return companyDay(this.company.timeZone, new Date(time));
  }

  /** Returns a new UUID, for a record sent without an id. */
  mintUuid(): string {
    return this.#ids.uuid(this.#mintMs());
  }

  mintId(prefix: string): string {
    return this.#ids.prefixed(prefix, this.#mintMs());
  }

  /** Returns the time for a new id in Unix milliseconds; it grows with each move, so that ids sort by creation. */
  #mintMs(): number {
    this.#mintedMs = Math.max(this.#nowMs, this.company.lastStampMs + 1);
    return this.#mintedMs;
  }

  /** Returns a record with its unpublished data; undefined when the company has none with that id. */
  async find<R extends Resource>(resource: R, id: string): Promise<Stored<R> | undefined> {
    const texts = await findTexts(this.transaction, resource, this.company.id, id);
    if (!texts) return undefined;
    // A quote that wasn't stored by `put` has no rates.
    const blank = resource === 'quotes' ? { reverseChargeRates: {} } : {};
    const unpublished = { ...blank, ...(JSON.parse(texts.unpublished ?? '{}') as object) };
    // `put` wrote both texts.
    return { record: JSON.parse(joinRecordTexts(texts)) as RecordOf[R], unpublished } as Stored<R>;
  }

  /**
   * Returns a record with its unpublished data.
   * @throws Refusal `unknown_record`, also for another company's record.
   */
  async getStored<R extends Resource>(resource: R, id: string, path: string): Promise<Stored<R>> {
    const found = await this.find(resource, id);
    if (!found) throw unknownRecord(resource, id, path);
    return found;
  }

  /** Returns a record as the API shows it. @throws Refusal `unknown_record`. */
  async get<R extends Resource>(resource: R, id: string, path: string): Promise<RecordOf[R]> {
    return (await this.getStored(resource, id, path)).record;
  }

  /** Refuses an id that none of the company's records has. @throws Refusal `unknown_record`. */
  async mustHave(resource: Resource, id: string, path: string): Promise<void> {
    if (!(await hasRecord(this.transaction, resource, this.company.id, id))) {
      throw unknownRecord(resource, id, path);
    }
  }

  /** Refuses an id that one of the company's records has. @throws Refusal `duplicate_id`. */
  async mustBeNew(resource: Resource, id: string, path: string): Promise<void> {
    if (!(await hasRecord(this.transaction, resource, this.company.id, id))) return;
    const message = `There is already a record with the id ${quote(id)} among the company's ${resource}.`;
    throw new Refusal('duplicate_id', message, path);
  }

  /**
   * Sets a record's `updatedAt` and writes it, after validating it against the contract's schema.
   * @throws Refusal `invalid_change` when the contract refuses the record.
   */
  async putStamped<R extends StampedResource>(
    resource: R,
    record: Unstamped<R>,
    unpublished?: AnyUnpublished,
  ): Promise<RenderedRecord> {
    // With `updatedAt` the record is complete.
    return this.put(resource, { ...record, updatedAt: this.stamp() } as unknown as RecordOf[R], unpublished);
  }

  /**
   * Stamps and writes a changed record, and publishes an event about it. An unchanged record isn't written and uses no stamp.
   * @returns the record as it is now stored.
   */
  async putChanged<R extends StampedResource>(
    resource: R,
    before: { record: RecordOf[R]; unpublished?: AnyUnpublished },
    { record, unpublished }: { record: Unstamped<R>; unpublished?: AnyUnpublished },
    event?: SubscribableKind,
  ): Promise<RenderedRecord> {
    // Compares the rendered texts with the old stamp, so that the order of members doesn't matter.
    const same = render(resource, { ...record, updatedAt: before.record.updatedAt });
    const isSame = isDeepStrictEqual(JSON.parse(joinRecordTexts(same)), before.record);
    if (isSame && isDeepStrictEqual(before.unpublished, unpublished)) return render(resource, before.record);
    const changed = await this.putStamped(resource, record, unpublished);
    if (event) this.send(event, changed.body);
    return changed;
  }

  /** Writes a record without stamping it. @throws Refusal `invalid_change` when the contract refuses it. */
  async put<R extends Resource>(
    resource: R,
    record: RecordOf[R],
    unpublished?: AnyUnpublished,
  ): Promise<RenderedRecord> {
    const rendered = render(resource, record);
    const text = unpublished && JSON.stringify(unpublished);
    await putRecord(this.transaction, this.company.id, rendered, text);
    return rendered;
  }

  async remove(resource: Resource, id: string): Promise<void> {
    await removeRecord(this.transaction, resource, this.company.id, id);
  }

  /** Returns the company's details for a document that is issued now. */
  async supplier(): Promise<Supplier> {
    return (await this.#shownSupplier()).supplier;
  }

  /** Stores the details and logo that an issued document shows; `named` replaces the company's current details. */
  async keepSupplier(named?: Supplier): Promise<KeptSupplier> {
    const shown = await this.#shownSupplier();
    const supplier = derivedTerms(named ?? shown.supplier);
    const { accent } = this.#backoffice;
    return keepSupplier(this.transaction, this.company.id, { ...shown, supplier, accent });
  }

  async #shownSupplier(): Promise<ShownSupplier> {
    return (this.#supplier ??= await findSupplier(this.transaction, this.company.id, null));
  }

  /** Queues an issued document for the access point, if the company sends its documents there. */
  async handOver(id: string): Promise<void> {
    const { id: company, handOver } = this.company;
    if (handOver) await addHandOver(this.transaction, { company, id, now: this.#now });
  }

  /** Suppresses the events of the rest of the move, for imports that don't notify. */
  keepQuiet(): void {
    this.#isQuiet = true;
  }

  /** Adds an event about the last stamped record, to be published by `finish`. */
  send(kind: SubscribableKind, data: JsonText<unknown>): void {
    if (this.#isQuiet) return;
    const createdAt = new Date(this.#lastStampMs).toISOString();
    this.#events.push({ id: this.#ids.prefixed('evt_', this.#lastStampMs), kind, createdAt, data });
  }

  /** Writes the company's last stamp and the move's events. @returns the last stamp, in epoch milliseconds. */
  async finish(): Promise<number> {
    const { id, lastStampMs } = this.company;
    const lastMs = Math.max(this.#lastStampMs, this.#mintedMs);
    if (lastMs > lastStampMs) await setLastStamp(this.transaction, id, lastMs);
    await this.#backoffice.appendEvents(this.transaction, id, this.#events, {
      mintId: () => this.#ids.prefixed('dlv_', this.#lastStampMs),
      // The clock's time, because the stamp may be ahead of it.
      dueAt: this.#now.toISOString(),
    });
    return lastMs;
  }
}

function render(resource: Resource, record: object): RenderedRecord {
  try {
    return renderRecord({ resource, record } as ResourceRecord);
  } catch (error) {
    if (!(error instanceof InvalidRecordError)) throw error;
    const message = `The contract refuses the record that this would make: ${error.message}.`;
    throw new Refusal('invalid_change', message);
  }
}

function unknownRecord(resource: Resource, id: string, path: string): Refusal {
  const message = `There is no record with the id ${quote(id)} among the company's ${resource}.`;
  return new Refusal('unknown_record', message, path);
}
