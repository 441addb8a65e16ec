/** Why a webhook is refused: its sender does not prove to be the provider. */
export const webhookRefusals = [
  'wrong_secret',
  'missing_secret',
  'wrong_signature',
  'missing_signature',
  /** Its timestamp is more than five minutes off: an old request, or a clock that is wrong. */
  'stale_signature',
  /** Its address is not one of WEBHOOK_ALLOWED_ADDRESSES. */
  'wrong_address',
] as const;

export type WebhookRefusal = (typeof webhookRefusals)[number];
