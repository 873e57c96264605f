import type { Caller } from '../connections/exchange.ts';
import type { Documents } from '../invoice-pdf/documents.ts';
import type { Connection } from '../store/dialects/dialect.ts';
import type { OperationId, PathParameters, QueryParameters, Reply } from '../../contract/operations.ts';

/**
 * A function that answers requests for an operation. It gets parameters validated against the contract, and returns a status
 * and body that the contract declares (anything else doesn't compile). For every other outcome, it throws an AppError.
 */
export type Handler<K extends OperationId> = (
  request: {
    caller: Caller;
    path: PathParameters<K>;
    query: QueryParameters<K>;
    /** Releases the request's place among those being handled; called before a long wait. */
    leave: () => void;
  },
  needs: HandlerNeeds,
) => Promise<Reply<K>>;

/** The dependencies that every handler can use. */
export interface HandlerNeeds {
  db: Connection;
  documents: Documents;
  now: () => Date;
}

export type Handlers = { [K in OperationId]: Handler<K> };
