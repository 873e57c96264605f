import type pg from 'pg';

import { unavailable } from '../../../errors.ts';
import type { Machines } from './engine.ts';
import { onOwnConnection, type PostgresHosts } from './postgres-hosts.ts';

/** After a statement that takes longer than this, the machines are asked whether they answer. */
const SLOW_MS = 1_000;
/** Between two such looks. */
const LOOK_EVERY_MS = 2_000;
/** A machine that gives no connection for so long doesn't answer. */
const CONNECT_MS_MAX = 2_000;
/** Companies whose machine is remembered, until a machine is found away. */
const COMPANIES_MAX = 10_000;

/** The connections for the companies of one machine; or for what concerns none of them, or many. */
export interface Lane {
  pool: pg.Pool;
  isAway: boolean;
  /** Ends each wait that is under way, once a machine is found not to answer. */
  waits: Set<(reason: Error) => void>;
}

interface Look {
  atMs: number;
  away: readonly string[];
  companies: string[][];
}

/**
 * The connections to the coordinator of a Citus. A pool of its own for each machine's companies keeps one that is silent from
 * holding connections that others need.
 * @see https://docs.citusdata.com/en/stable/develop/api_metadata.html
 */
export class MachinePools implements Machines {
  readonly #hosts: PostgresHosts;
  readonly #createPool: () => pg.Pool;
  readonly #general: Lane;
  readonly #lanes = new Map<string, Lane>();
  readonly #machines = new Map<string, string>();
  #last: Look = { atMs: -Infinity, away: [], companies: [] };
  #looking: Promise<Look> | undefined;

  /** @param general the pool for what concerns no company, or many. */
  constructor(hosts: PostgresHosts, general: pg.Pool, createPool: () => pg.Pool) {
    this.#hosts = hosts;
    this.#createPool = createPool;
    this.#general = newLane(general);
  }

  /** The connections for a statement. @throws AppError `unavailable` at once where its company's machine doesn't answer. */
  async laneFor(text: string, parameters: readonly unknown[]): Promise<Lane> {
    const company = companyOf(text, parameters);
    const machine = company === undefined ? undefined : await this.#machineOf(company);
    const lane = machine === undefined ? this.#general : this.#laneOf(machine);
    if (!lane.isAway) return lane;
    this.suspect();
    throw unavailable({ cause: new Error(`${machine} doesn't answer.`) });
  }

  /** Waits for an answer, as long as the machines of the lane answer. */
  async within<T>({ waits }: Lane, answer: Promise<T>): Promise<T> {
    // One for each wait: a promise that lives long would keep every answer that raced with it.
    const { promise: lost, reject } = Promise.withResolvers<never>();
    waits.add(reject);
    const slow = setInterval(() => this.suspect(), SLOW_MS);
    try {
      return await Promise.race([answer, lost]);
    } finally {
      clearInterval(slow);
      waits.delete(reject);
    }
  }

  get away(): readonly string[] {
    return this.#last.away;
  }

  suspect(): void {
    if (performance.now() - this.#last.atMs > LOOK_EVERY_MS) void this.#look().catch(() => undefined);
  }

  async reached(): Promise<string[][]> {
    const isNew = performance.now() - this.#last.atMs < 4 * LOOK_EVERY_MS;
    return (isNew ? this.#last : await this.#look()).companies;
  }

  async end(): Promise<void> {
    await Promise.all([...this.#lanes.values()].map(({ pool }) => pool.end()));
  }

  #laneOf(machine: string): Lane {
    const lane = this.#lanes.get(machine) ?? newLane(this.#createPool());
    this.#lanes.set(machine, lane);
    return lane;
  }

  async #machineOf(company: string): Promise<string | undefined> {
    const known = this.#machines.get(company);
    if (known !== undefined) return known;
    // The coordinator answers this alone, whatever machine is away.
    const { rows } = await this.#general.pool.query<{ machine: string }>(
      `SELECT ${MACHINE} AS machine FROM ${PLACES} WHERE shardid = get_shard_id_for_distribution_column('companies', CAST($1 AS TEXT))`,
      [company],
    );
    const [found] = rows;
    if (found && this.#machines.size < COMPANIES_MAX) this.#machines.set(company, found.machine);
    return found?.machine;
  }

  /** Asks all machines, at once and on a connection of its own; callers at the same moment share one look. */
  async #look(): Promise<Look> {
    this.#looking ??= this.#askMachines().finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  async #askMachines(): Promise<Look> {
    const look = async (client: pg.Client) => {
      await client.query(`SET citus.node_connection_timeout = ${CONNECT_MS_MAX}`);
      const asked = await client.query<{ machine: string; success: boolean }>(ANSWERS);
      const away = asked.rows.filter(({ success }) => !success).map(({ machine }) => machine);
      const { rows } = await client.query<{ machine: string; result: string }>(COMPANIES, [away]);
      const byMachine = Map.groupBy(rows, ({ machine }) => machine);
      const companies = [...byMachine.values()].map((shards) =>
        shards.flatMap(({ result }) => JSON.parse(result) as string[]),
      );
      return this.#learn({ atMs: performance.now(), away, companies });
    };
    return onOwnConnection(this.#hosts, 2 * CONNECT_MS_MAX, { name: 'fieldledger-machines', work: look });
  }

  #learn(look: Look): Look {
    const { away } = this.#last;
    this.#last = look;
    if (look.away.some((machine) => !away.includes(machine))) {
      // Shards may have been moved.
      this.#machines.clear();
      loseWaiting(this.#general);
    }
    for (const machine of new Set([...look.away, ...this.#lanes.keys()])) {
      const lane = this.#laneOf(machine);
      lane.isAway = look.away.includes(machine);
      if (lane.isAway) loseWaiting(lane);
    }
    return look;
  }
}

const MACHINE = "nodename || ':' || nodeport";
const ANSWERS = `SELECT ${MACHINE} AS machine, success FROM run_command_on_workers('SELECT 1')`;
const PLACES = 'pg_dist_placement JOIN pg_dist_node USING (groupid)';

/** The companies of each shard whose machine isn't one of some. */
const COMPANIES = `
  SELECT node_name || ':' || node_port AS machine, result
  FROM (
    SELECT array_agg(nodename) AS names, array_agg(nodeport) AS ports,
      array_agg(format('SELECT COALESCE(json_agg(id), ''[]'') FROM %s', shard_name('companies', shardid))) AS commands
    FROM pg_dist_shard JOIN ${PLACES} USING (shardid)
    WHERE logicalrelid = 'companies'::regclass AND ${MACHINE} <> ALL ($1)
  ) AS asked, master_run_on_worker(names, ports, commands, TRUE)`;

/** The company to which a statement is bound, or one of several on the same machine; undefined for other statements. */
function companyOf(text: string, parameters: readonly unknown[]): string | undefined {
  const place =
    /\bcompany"? = (?:ANY\()?\$(\d+)/.exec(text) ??
    (/\bcompanies\b/.test(text) ? /\bid"? = (?:ANY\()?\$(\d+)/.exec(text) : null);
  const [value] = place ? [parameters[Number(place[1]) - 1]].flat() : [];
  return typeof value === 'string' ? value : undefined;
}

function newLane(pool: pg.Pool): Lane {
  return { pool, isAway: false, waits: new Set() };
}

function loseWaiting({ waits }: Lane): void {
  for (const lose of waits) lose(unavailable({ cause: new Error("A machine doesn't answer.") }));
}
