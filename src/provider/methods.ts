/**
 * The methods of the port as a table, so that what is done around every call (time-out, retry,
 * renewed token) is written once and not once for each method.
 */
import type { CallOptions, Provider } from './provider.ts';

export type ProviderMethod = keyof Provider;

/** Where each method takes its options. A method that is missing here does not compile. */
const optionsAt = {
  login: 1,
  balance: 1,
  statement: 2,
  lookUpKey: 2,
  pay: 2,
  createDynamicCharge: 2,
  createStaticCharge: 2,
  listKeys: 2,
  createKey: 2,
  deleteKey: 2,
} as const satisfies Readonly<Record<ProviderMethod, number>>;

/** One call of one method: what was asked, and how to pass it on. */
export interface ProviderCall {
  readonly method: ProviderMethod;
  readonly args: readonly unknown[];
  /** Passes the call on, with its own arguments or with changed ones. */
  invoke(args: readonly unknown[]): Promise<unknown>;
}

/**
 * Puts one function around every method of a provider.
 *
 * @param around gets each call and answers in its place; what it resolves to must be what the
 *   method resolves to.
 */
export function wrapProvider(
  provider: Provider,
  around: (call: ProviderCall) => Promise<unknown>,
): Provider {
  const methods = (Object.keys(optionsAt) as ProviderMethod[]).map((method) => {
    const invoke = async (args: readonly unknown[]): Promise<unknown> =>
      Reflect.apply(provider[method], provider, args);
    return [method, (...args: unknown[]) => around({ method, args, invoke })] as const;
  });
  // The one place where types are taken on trust: the table above names every method of the port.
  return Object.fromEntries(methods) as unknown as Provider;
}

/** The options that a call was made with. */
export function optionsOf(call: ProviderCall): CallOptions {
  return (call.args[optionsAt[call.method]] as CallOptions | undefined) ?? {};
}

/** The arguments of a call with other options. */
export function withOptions(call: ProviderCall, options: CallOptions): unknown[] {
  return [...call.args.slice(0, optionsAt[call.method]), options];
}
