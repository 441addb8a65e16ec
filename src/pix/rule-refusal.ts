/** The refusal of an order by a rule about what is stored, or about the time. */
import { invalidField, type AppError, type Text } from '../errors.ts';

/** Why an order is refused. */
export interface OrderRefusal {
  readonly error: AppError;
  /** The code of the FAILED order that closes the key; null: nothing is stored. */
  readonly failureCode: string | null;
}

/** A refusal that closes the key, as a 422 for one field. */
export function ruleRefusal(failureCode: string, path: string, text: Text): OrderRefusal {
  return { error: invalidField(path, text), failureCode };
}
