import type pg from 'pg';

import { unavailable } from '../../../errors.ts';
import type { Machines } from './engine.ts';
import { onOwnConnection, type PostgresHosts } from './postgres-hosts.ts';

/** Milliseconds that a statement may take before the machines are checked. */
const SLOW_MS = 1_000;
/** Minimum milliseconds between two checks of the machines. */
const LOOK_EVERY_MS = 2_000;
/** Milliseconds without a connection after which a machine counts as down. */
const CONNECT_MS_MAX = 2_000;
/** Maximum number of companies whose machine is remembered; all are forgotten when a machine is found to be down. */
const COMPANIES_MAX = 10_000;

/** The connections for one machine's companies, or for statements that concern no company or many. */
export interface Lane {
  pool: pg.Pool;
  isAway: boolean;
  /** Functions that end the lane's waits for statements when its machine is found to be down. */
  waits: Set<(reason: Error) => void>;
}

interface Look {
  atMs: number;
  away: readonly string[];
  companies: string[][];
}

/**
 * The connections to a Citus coordinator, in a pool for each machine's companies, so that a silent machine can't occupy
 * connections that others need.
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

  /** Creates the pools. @param general the pool for statements that concern no company or many. */
  constructor(hosts: PostgresHosts, general: pg.Pool, createPool: () => pg.Pool) {
    this.#hosts = hosts;
    this.#createPool = createPool;
    this.#general = newLane(general);
  }

  /** Returns the connections for a statement. @throws AppError `unavailable` at once if its company's machine is down. */
  async laneFor(text: string, parameters: readonly unknown[]): Promise<Lane> {
    const company = companyOf(text, parameters);
    const machine = company === undefined ? undefined : await this.#machineOf(company);
    const lane = machine === undefined ? this.#general : this.#laneOf(machine);
    if (!lane.isAway) return lane;
    this.suspect();
    throw unavailable({ cause: new Error(`${machine} doesn't answer.`) });
  }

  /** Returns a statement's result, or throws as soon as one of the lane's machines is found to be down. */
  async within<T>({ waits }: Lane, answer: Promise<T>): Promise<T> {
    // A new promise for each wait, because a long-lived one would retain every answer that raced with it.
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
    // The coordinator can answer this by itself, whichever machine is down.
    const { rows } = await this.#general.pool.query<{ machine: string }>(
      `SELECT ${MACHINE} AS machine FROM ${PLACES} WHERE shardid = get_shard_id_for_distribution_column('companies', CAST($1 AS TEXT))`,
      [company],
    );
    const [found] = rows;
    if (found && this.#machines.size < COMPANIES_MAX) this.#machines.set(company, found.machine);
    return found?.machine;
  }

  /** Returns which machines answer, from one check of all on a separate connection. Simultaneous callers share one check. */
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
      // Shards may have moved to other machines.
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

/** SQL for the companies of each shard, except on the given machines. */
const COMPANIES = `
  SELECT node_name || ':' || node_port AS machine, result
  FROM (
    SELECT array_agg(nodename) AS names, array_agg(nodeport) AS ports,
      array_agg(format('SELECT COALESCE(json_agg(id), ''[]'') FROM %s', shard_name('companies', shardid))) AS commands
    FROM pg_dist_shard JOIN ${PLACES} USING (shardid)
    WHERE logicalrelid = 'companies'::regclass AND ${MACHINE} <> ALL ($1)
  ) AS asked, master_run_on_worker(names, ports, commands, TRUE)`;

/** Returns the company that a statement is bound to, or one of several on the same machine; undefined if there is none. */
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
