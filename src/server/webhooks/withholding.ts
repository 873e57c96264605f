import { moduleOfEvent } from '../../contract/events.ts';
import type { ErrorCode } from '../../contract/operations.ts';
import { invoicingModules } from '../../contract/scopes.ts';
import type { LeasedDelivery } from '../store/deliveries/deliveries.ts';

/** Why a delivery is not sent: the API would refuse the same data with this code, or the webhook is deleted. */
export type WithheldFor =
  | Extract<
      ErrorCode,
      'company_unavailable' | 'api_not_enabled' | 'module_not_licensed' | 'invoicing_not_enabled'
    >
  | 'webhook_deleted';

type Circumstances = Pick<
  LeasedDelivery,
  'kind' | 'isWebhookDeleted' | 'apiEnabled' | 'subscriptionActive' | 'invoicingEnabled' | 'modules'
>;

/**
 * Whether a delivery that is due may be sent: only while API access is on, the subscription is active, and the plan
 * includes the data (openapi.yaml, "Access"). A ping carries no data.
 */
export function reasonToWithhold(delivery: Circumstances): WithheldFor | undefined {
  if (delivery.isWebhookDeleted) return 'webhook_deleted';
  if (!delivery.subscriptionActive) return 'company_unavailable';
  if (!delivery.apiEnabled) return 'api_not_enabled';
  if (delivery.kind === 'ping') return undefined;
  const module = moduleOfEvent(delivery.kind);
  // The modules are a JSON array of plain words, so a search for the quoted word finds it.
  if (!delivery.modules.includes(`"${module}"`)) return 'module_not_licensed';
  return invoicingModules.includes(module) && !delivery.invoicingEnabled
    ? 'invoicing_not_enabled'
    : undefined;
}
