/**
 * The methods of the port as a table, so that what is done around every call (time-out, retry,
 * renewed token) is written once and not once for each method.
 */
import type { CallOptions, Provider, ProviderSession } from './provider.ts';

export type ProviderMethod = keyof Provider;

/** How a method of the port is called. */
interface Signature {
  /** Whether its first argument is the banking session that it is made in. */
  readonly hasSession: boolean;
  /** Which argument its options are. */
  readonly optionsAt: number;
}

const afterSession = (optionsAt: number): Signature => ({ hasSession: true, optionsAt });
const sessionless = (optionsAt: number): Signature => ({ hasSession: false, optionsAt });

/** How each method is called. A method that is missing here does not compile. */
const signatures: Readonly<Record<ProviderMethod, Signature>> = {
  login: sessionless(1),
  balance: afterSession(1),
  statement: afterSession(2),
  lookUpKey: afterSession(2),
  pay: afterSession(2),
  createDynamicCharge: afterSession(2),
  createStaticCharge: afterSession(2),
  listKeys: afterSession(2),
  createKey: afterSession(2),
  deleteKey: afterSession(2),
  registerPerson: sessionless(1),
  submitAddress: sessionless(2),
  submitDocument: sessionless(2),
  submitProposal: sessionless(2),
  requestValidation: sessionless(2),
  confirmValidation: sessionless(2),
  startLivenessCheck: sessionless(1),
  kyc: sessionless(1),
  lookUpCep: sessionless(1),
};

/** One call of one method: what was asked, and how to pass it on. */
export interface ProviderCall {
  readonly method: ProviderMethod;
  readonly args: readonly unknown[];
  /** Passes the call on, with its own arguments or with changed ones; it may throw at once. */
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
  const methods = (Object.keys(signatures) as ProviderMethod[]).map((method) => {
    const invoke = (args: readonly unknown[]): Promise<unknown> =>
      Reflect.apply(provider[method], provider, args) as Promise<unknown>;
    return [method, (...args: unknown[]) => around({ method, args, invoke })] as const;
  });
  // The one place where types are taken on trust: the table above names every method of the port.
  return Object.fromEntries(methods) as unknown as Provider;
}

/** The options that a call was made with. */
export function optionsOf(call: ProviderCall): CallOptions {
  return (call.args[signatures[call.method].optionsAt] as CallOptions | undefined) ?? {};
}

/** The arguments of a call with other options. */
export function withOptions(call: ProviderCall, options: CallOptions): unknown[] {
  return [...call.args.slice(0, signatures[call.method].optionsAt), options];
}

/** The banking session that a call is made in; null for a call that needs none. */
export function sessionOf(call: ProviderCall): ProviderSession | null {
  return signatures[call.method].hasSession ? (call.args[0] as ProviderSession) : null;
}
