import type { Caller } from '../connections/exchange.ts';
import type { Documents } from '../invoice-pdf/documents.ts';
import type { Connection } from '../store/dialects/dialect.ts';
import type { OperationId, PathParameters, QueryParameters, Reply } from '../../contract/operations.ts';

/**
 * An operation's handler: gets parameters that the contract has validated, answers with a status and a body that the
 * contract declares for it (anything else doesn't compile), and throws an AppError for every other outcome.
 */
export type Handler<K extends OperationId> = (
  request: {
    caller: Caller;
    path: PathParameters<K>;
    query: QueryParameters<K>;
    /** Gives back the request's place among those in flight, before it waits for long. */
    leave: () => void;
  },
  needs: HandlerNeeds,
) => Promise<Reply<K>>;

/** The parts of the server that handlers use. */
export interface HandlerNeeds {
  db: Connection;
  documents: Documents;
  now: () => Date;
}

export type Handlers = { [K in OperationId]: Handler<K> };
