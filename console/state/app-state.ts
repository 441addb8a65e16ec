/** The state of all screens: the path of screens, the session, the forms, and their changes. */
import type { Account, User } from '../../contract/types.ts';
import type { FormState } from './form.ts';
import { isInDoubt, type Answer, type OrderKind } from './outcomes.ts';

/** The customer who is logged in. */
export interface Holder {
  readonly user: User;
  readonly account: Account | null;
}

export type ScreenName =
  | 'home'
  | 'login'
  | 'balance'
  | 'statement'
  | 'transactions'
  | 'send'
  | 'charge'
  | 'limits'
  | 'keys'
  | 'onboarding'
  | 'operator';

/** What an idempotency key belongs to: two forms may have the same key. */
export interface OrderKey {
  /** The name of the form. */
  readonly form: string;
  readonly key: string;
}

/** A payment or a return that was sent. */
export interface Order extends OrderKey {
  readonly kind: OrderKind;
  /** What was typed, to compare with what is typed later. */
  readonly typed: string;
  readonly answer: Answer;
  /** Whether the service does not say now how it ends. */
  readonly isLost?: boolean;
}

type Drafts = Readonly<Record<string, FormState>>;

export interface AppState {
  /** The open screens; the last one is shown. */
  readonly path: readonly ScreenName[];
  readonly holder: Holder | null;
  /** The last customer: another one must not see their drafts. */
  readonly lastUserId: number | null;
  /** The forms by name, so that a person can leave a screen and come back. */
  readonly drafts: Drafts;
  /** The open onboarding application. Its id is a secret; only its own screen shows it. */
  readonly applicationId: string | null;
  /** Why this screen is shown. */
  readonly remark: string | null;
  /** Where the session ended; the login leads back to it. */
  readonly returnTo: readonly ScreenName[] | null;
  /** Those in doubt, and the last one of each form; the newest is the last. */
  readonly orders: readonly Order[];
  /** Whether the last key has copied a text. */
  readonly hasCopied: boolean;
}

export const initialState: AppState = {
  path: ['home'],
  holder: null,
  lastUserId: null,
  drafts: {},
  applicationId: null,
  remark: null,
  returnTo: null,
  orders: [],
  hasCopied: false,
};

/** Makes the next state from the current one. */
export type Change = (state: AppState) => AppState;

/** Opens a screen. */
export function open(screen: ScreenName): Change {
  return (state) => ({ ...state, path: [...state.path, screen], remark: null });
}

/** Returns to the screen before. */
export const back: Change = (state) =>
  state.path.length > 1 ? { ...state, path: state.path.slice(0, -1), remark: null } : state;

/** Starts a session, and returns to where the last one ended. */
export function logIn(holder: Holder): Change {
  return (state) => {
    const { id } = holder.user;
    const isSame = state.lastUserId === null || state.lastUserId === id;
    // The draft of the login has the password. A refusal to the last session is not a fault.
    const drafts = Object.entries(state.drafts)
      .filter(([name]) => isSame && name !== 'login')
      .map(([name, draft]) => [name, { ...draft, faults: {} }] as const);
    return {
      ...state,
      holder,
      lastUserId: id,
      returnTo: null,
      remark: null,
      path: (isSame ? state.returnTo : null) ?? ['home'],
      drafts: Object.fromEntries(drafts),
      orders: isSame ? state.orders : [],
    };
  };
}

/** Ends the session because the customer wants it: nothing is kept. */
export function logOut(remark: string): Change {
  const ended = { holder: null, returnTo: null, drafts: {}, orders: [], remark } as const;
  return (state) => ({ ...state, ...ended, path: ['home'] });
}

/** Shows the login because the service refused the session. */
export function loseSession(remark: string): Change {
  return (state) => {
    const returnTo = state.path;
    return { ...state, holder: null, returnTo, remark, path: ['home', 'login'] };
  };
}

/** Notes whether the last key has copied a text. */
export function noteCopy(hasCopied: boolean): Change {
  return (state) => ({ ...state, hasCopied });
}

/** @returns the order that has a key; undefined: none was sent with it. */
export function findOrder({ orders }: AppState, order: OrderKey): Order | undefined {
  return orders.find((one) => isSameOrder(one, order));
}

/** @returns the orders that may have been made without their end being known. */
export function ordersInDoubt({ orders }: AppState): readonly Order[] {
  return orders.filter(({ answer }) => isInDoubt(answer));
}

/** @returns whether two keys are of one order. */
export function isSameOrder(one: OrderKey, other: OrderKey): boolean {
  return one.form === other.form && one.key === other.key;
}

/** Notes what is known of an order. */
export function noteOrder(order: Order): Change {
  return (state) => {
    const isKept = (one: Order): boolean =>
      !isSameOrder(one, order) && (one.form !== order.form || isInDoubt(one.answer));
    return { ...state, orders: [...state.orders.filter(isKept), order] };
  };
}

/** @param change receives undefined where there is no draft yet. */
export function changeForm(
  form: string,
  change: (draft: FormState | undefined) => FormState,
): Change {
  return (state) => ({
    ...state,
    drafts: { ...state.drafts, [form]: change(state.drafts[form]) },
  });
}

/** Forgets every form whose name starts like this. */
export function forgetForms(prefix: string): Change {
  return (state) => {
    const kept = Object.entries(state.drafts).filter(([name]) => !name.startsWith(prefix));
    return { ...state, drafts: Object.fromEntries(kept) };
  };
}

/** Opens an onboarding application, or with null leaves it; the forms of the last one go. */
export function openApplication(id: string | null): Change {
  return (state) => ({ ...forgetForms('onboarding')(state), applicationId: id });
}
