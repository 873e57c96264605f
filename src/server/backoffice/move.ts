import { isDeepStrictEqual } from 'node:util';

import { companyDay } from '../../contract/company-time.ts';
import type { MoveEventKind } from '../../contract/events.ts';
import type { JsonText } from '../../contract/json-text.ts';
import type { RecordOf, Resource, ResourceRecord } from '../../contract/records.ts';
import { InvalidRecordError, type RenderedRecord, renderRecord, wholeText } from '../../contract/render.ts';
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

/** A record whose time of change is known only when it is put. */
type Unstamped<R extends Resource> = Omit<RecordOf[R], 'updatedAt'>;

/** Resources whose records say when they last changed. */
type StampedResource = { [R in Resource]: RecordOf[R] extends { updatedAt: string } ? R : never }[Resource];

/**
 * One move of one company while its transaction is open and the company locked. Records, and then events, are written
 * when the move is over.
 */
export class Move {
  readonly company: LockedCompany;
  readonly transaction: StoreTransaction;
  /** When it happened: the time of the change, in UTC with milliseconds. */
  readonly at: string;
  /** The company's calendar day of that time, `YYYY-MM-DD`. */
  readonly today: string;
  /** The time of the clock; undefined where the change gives one of its own. */
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
   * The next time of change: now, or a millisecond after the company's last one, whichever is later. So stamps grow
   * strictly within a company, even when the clock goes back, and none is earlier than a time that
   * readers were told in `Date`.
   */
  stamp(): string {
    this.#lastStampMs = Math.max(this.#nowMs, this.#lastStampMs + 1);
    return new Date(this.#lastStampMs).toISOString();
  }

  /** Reads a time of the business system. @throws Refusal `invalid_change`. */
  readTime(time: string, path: string): string {
    return readTime(time, this.#now, path).toISOString();
  }

  /** The company's calendar day of a time. */
  dayOf(time: string): string {
    return companyDay(this.company.timeZone, new Date(time));
  }

  /** An id for a record that came without one. */
  mintUuid(): string {
    return this.#ids.uuid(this.#mintMs());
  }

  mintId(prefix: string): string {
    return this.#ids.prefixed(prefix, this.#mintMs());
  }

  /** Ids carry the move's own time, which grows from move to move: so they are in the order of creation. */
  #mintMs(): number {
    this.#mintedMs = Math.max(this.#nowMs, this.company.lastStampMs + 1);
    return this.#mintedMs;
  }

  /** Reads a record with the data that the API doesn't show; undefined when the company has none with that id. */
  async find<R extends Resource>(resource: R, id: string): Promise<Stored<R> | undefined> {
    const texts = await findTexts(this.transaction, resource, this.company.id, id);
    if (!texts) return undefined;
    // A quote that was loaded in another way states no rates.
    const blank = resource === 'quotes' ? { reverseChargeRates: {} } : {};
    const unpublished = { ...blank, ...(JSON.parse(texts.unpublished ?? '{}') as object) };
    // Both were written by `put`.
    return { record: JSON.parse(wholeText(texts)) as RecordOf[R], unpublished } as Stored<R>;
  }

  /**
   * Reads one that has to be there.
   * @throws Refusal `unknown_record`, the same for another company's record as for none.
   */
  async getStored<R extends Resource>(resource: R, id: string, path: string): Promise<Stored<R>> {
    const found = await this.find(resource, id);
    if (!found) throw unknownRecord(resource, id, path);
    return found;
  }

  /** The record alone. @throws Refusal `unknown_record`. */
  async get<R extends Resource>(resource: R, id: string, path: string): Promise<RecordOf[R]> {
    return (await this.getStored(resource, id, path)).record;
  }

  /** @throws Refusal `unknown_record` unless the company has a record with that id. */
  async mustHave(resource: Resource, id: string, path: string): Promise<void> {
    if (!(await hasRecord(this.transaction, resource, this.company.id, id))) {
      throw unknownRecord(resource, id, path);
    }
  }

  /** @throws Refusal `duplicate_id` when the company has a record with that id. */
  async mustBeNew(resource: Resource, id: string, path: string): Promise<void> {
    if (!(await hasRecord(this.transaction, resource, this.company.id, id))) return;
    const message = `There is already a record with the id ${quote(id)} among the company's ${resource}.`;
    throw new Refusal('duplicate_id', message, path);
  }

  /**
   * Stamps a record and writes it. The contract's own schema has the last word.
   * @throws Refusal `invalid_change` when the contract refuses the record.
   */
  async putStamped<R extends StampedResource>(
    resource: R,
    record: Unstamped<R>,
    unpublished?: AnyUnpublished,
  ): Promise<RenderedRecord> {
    // Together they are a whole record.
    return this.put(resource, { ...record, updatedAt: this.stamp() } as unknown as RecordOf[R], unpublished);
  }

  /**
   * Stamps a changed record, writes it and sends the `event` about it, unless it is what is stored already: when nothing
   * has changed, nothing is written and no stamp is used.
   * @returns the record as it is from then on.
   */
  async putChanged<R extends StampedResource>(
    resource: R,
    before: { record: RecordOf[R]; unpublished?: AnyUnpublished },
    { record, unpublished }: { record: Unstamped<R>; unpublished?: AnyUnpublished },
    event?: MoveEventKind,
  ): Promise<RenderedRecord> {
    // Compares the rendered texts with the old stamp, so that the order of members doesn't matter.
    const same = render(resource, { ...record, updatedAt: before.record.updatedAt });
    const isSame = isDeepStrictEqual(JSON.parse(wholeText(same)), before.record);
    if (isSame && isDeepStrictEqual(before.unpublished, unpublished)) return render(resource, before.record);
    const changed = await this.putStamped(resource, record, unpublished);
    if (event) this.send(event, changed.body);
    return changed;
  }

  /** Writes a record as it is. @throws Refusal `invalid_change` when the contract refuses it. */
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

  /** The company as a document of now names it. */
  async supplier(): Promise<Supplier> {
    return (await this.#shownSupplier()).supplier;
  }

  /** The supplier as it is, or as a document names it, kept with its logo for a document that is issued. */
  async keepSupplier(named?: Supplier): Promise<KeptSupplier> {
    const shown = await this.#shownSupplier();
    const supplier = derivedTerms(named ?? shown.supplier);
    const { accent } = this.#backoffice;
    return keepSupplier(this.transaction, this.company.id, { ...shown, supplier, accent });
  }

  async #shownSupplier(): Promise<ShownSupplier> {
    return (this.#supplier ??= await findSupplier(this.transaction, this.company.id, null));
  }

  /** Has a document that is issued now go to the access point, if the company's documents go there. */
  async handOver(id: string): Promise<void> {
    const { id: company, handOver } = this.company;
    if (handOver) await addHandOver(this.transaction, { company, id, now: this.#now });
  }

  /** Sends no event from now on: what happens is history. */
  keepQuiet(): void {
    this.#isQuiet = true;
  }

  /** Adds an event about the record that was stamped last. */
  send(kind: MoveEventKind, data: JsonText<unknown>): void {
    if (this.#isQuiet) return;
    const createdAt = new Date(this.#lastStampMs).toISOString();
    this.#events.push({ id: this.#ids.prefixed('evt_', this.#lastStampMs), kind, createdAt, data });
  }

  /** Writes the company's last stamp and the events of the move. @returns the last stamp. */
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
