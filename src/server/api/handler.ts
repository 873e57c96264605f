import type { Caller } from '../connections/exchange.ts';
import type { Documents } from '../invoice-pdf/documents.ts';
import type { Connection } from '../store/dialects/dialect.ts';
import type { OperationId, PathParameters, QueryParameters, Reply } from '../../contract/operations.ts';

/**
 * Handler of an operation. It gets parameters validated against the contract, and returns a status and body that the
 * contract declares (anything else doesn't compile). For every other outcome, it throws an AppError.
 */
export type Handler<K extends OperationId> = (
  request: {
    caller: Caller;
    path: PathParameters<K>;
    query: QueryParameters<K>;
    /** Releases the request's place among those in flight; called before a long wait. */
    leave: () => void;
  },
  needs: HandlerNeeds,
) => Promise<Reply<K>>;

/** Dependencies of the handlers. */
export interface HandlerNeeds {
  db: Connection;
  documents: Documents;
  now: () => Date;
}

export type Handlers = { [K in OperationId]: Handler<K> };
