import type { Caller } from '../access/keys.ts';
import type { OperationId, PathParameters, QueryParameters, Reply } from '../../contract/operations.ts';

/**
 * An operation's handler: gets parameters that the contract has validated, answers with a status and a body that the
 * contract declares for it (anything else doesn't compile), and throws an AppError for every other outcome.
 */
export type Handler<K extends OperationId> = (request: {
  caller: Caller;
  path: PathParameters<K>;
  query: QueryParameters<K>;
  /** Gives back the request's place among those in flight, before it waits for long. */
  leave: () => void;
}) => Promise<Reply<K>>;

/** One handler for each operation of the contract: a missing one doesn't compile. */
export type Handlers = { [K in OperationId]: Handler<K> };
