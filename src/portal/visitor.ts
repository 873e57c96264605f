import type { Response } from 'express';

import type { ActiveSession } from '../access/sessions.ts';
import type { Administrator } from '../store/administrators.ts';

/** Whose browser it is. */
export interface Visitor {
  /** What the tokens of the browser's forms are derived from. */
  formSecret: string;
  administrator?: Administrator;
  session?: ActiveSession;
}

/** What the server knows of a request, and what its log line is to say of it beside that. */
export interface Trace {
  readonly requestId: string;
  readonly address: string;
  /** The route's path as it is written there: what stands in an address is never logged. */
  page?: string;
  visitor?: { company: string; administrator: string };
}

/** The server puts it there before the portal is asked. */
export function traceOf(res: Response): Trace {
  return res.locals.exchange as Trace;
}

/** `findVisitor` puts it there. */
export function visitorOf(res: Response): Visitor {
  return res.locals.visitor as Visitor;
}
