/**
 * The client of the Fieldledger API: typed operations, lists as async iterators, rate limiting, retries and webhook
 * verification. It uses only web standards.
 * @module
 */
import './supported-node.js';
export type { EventKind } from '../contract/events.ts';
export type { ErrorCode, OperationId } from '../contract/operations.ts';
export type {
  Customer,
  Event,
  Form,
  Invoice,
  InvoiceSummary,
  Job,
  Person,
  Quote,
  QuoteSummary,
  Submission,
} from '../contract/records.ts';
export { createClient } from './create-client.ts';
export type { Client, ClientOptions } from './create-client.ts';
export { ApiError, NoAnswerError, WebhookError } from './errors.ts';
export type { ApiErrorDetail, WebhookErrorCode } from './errors.ts';
export type { EtagStore, StoredAnswer } from './exchange.ts';
export type { Listing, Page } from './listing.ts';
export type { CallOptions, DownloadedFile, Operation, QueryOf } from './operations.ts';
export { verifyWebhook } from './verify-webhook.ts';
export type { VerifyOptions, WebhookHeaders } from './verify-webhook.ts';
