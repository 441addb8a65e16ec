/** What all screens share, and how it changes: the session, what was typed, where one is. */
import type { Account, User } from '../../contract/types.ts';
import { newForm, reduceForm, type Field, type FormAction, type FormState } from './form.ts';
import { noChecks, type Checks } from './check.ts';

export interface Holder {
  readonly user: User;
  readonly account: Account | null;
}

export type ScreenName =
  | 'home'
  | 'login'
  | 'balance'
  | 'statement'
  | 'send'
  | 'charge'
  | 'keys'
  | 'onboarding'
  | 'operator';

export interface DeskState {
  /** The screens one came by; the last one is shown. */
  readonly path: readonly ScreenName[];
  readonly holder: Holder | null;
  /** Who was here last: what they typed is for nobody else. */
  readonly lastUserId: number | null;
  /** What was typed into each form, so that going back loses nothing. */
  readonly drafts: Readonly<Record<string, FormState>>;
  /** `missing`: nobody answers there, or somebody who has no contract. */
  readonly contract: 'asked' | 'known' | 'missing';
  readonly checks: Checks;
  /** The onboarding that is under way. Its id is a secret: it is shown on its own screen only. */
  readonly applicationId: string | null;
  /** Why one was led to where one is. */
  readonly remark: string | null;
  /** Where a session ended in the middle of something; the login leads back there. */
  readonly returnTo: readonly ScreenName[] | null;
}

export type DeskAction =
  | { readonly type: 'open'; readonly screen: ScreenName }
  | { readonly type: 'back' }
  | { readonly type: 'entered'; readonly holder: Holder }
  | { readonly type: 'left'; readonly remark: string }
  | { readonly type: 'ended'; readonly remark: string }
  | {
      readonly type: 'form';
      readonly form: string;
      readonly fields: readonly Field[];
      readonly action: FormAction;
    }
  | { readonly type: 'forget'; readonly form: string }
  | { readonly type: 'contract'; readonly checks: Checks | null }
  | { readonly type: 'ask contract' }
  | { readonly type: 'application'; readonly id: string | null };

/** How the console begins. */
export const beginning: DeskState = {
  path: ['home'],
  holder: null,
  lastUserId: null,
  drafts: {},
  contract: 'asked',
  checks: noChecks,
  applicationId: null,
  remark: null,
  returnTo: null,
};

/** Makes the next state; the one before stays as it is. */
export function reduceDesk(state: DeskState, action: DeskAction): DeskState {
  switch (action.type) {
    case 'open':
      return { ...state, path: [...state.path, action.screen], remark: null };
    case 'back':
      return state.path.length > 1
        ? { ...state, path: state.path.slice(0, -1), remark: null }
        : state;
    case 'entered':
      return entered(state, action.holder);
    case 'left':
      return { ...state, ...nobody, path: ['home'], drafts: {}, remark: action.remark };
    case 'ended':
      return {
        ...{ ...state, ...nobody, remark: action.remark },
        returnTo: state.path,
        path: ['home', 'login'],
      };
    case 'form': {
      const { form, fields } = action;
      const draft = reduceForm(state.drafts[form] ?? newForm(fields), action.action, fields);
      return { ...state, drafts: { ...state.drafts, [form]: draft } };
    }
    case 'forget':
      return { ...state, drafts: without(state.drafts, (name) => name === action.form) };
    case 'contract':
      return action.checks === null
        ? { ...state, contract: 'missing' }
        : { ...state, contract: 'known', checks: action.checks };
    case 'ask contract':
      return { ...state, contract: 'asked' };
    case 'application':
      return {
        ...{ ...state, applicationId: action.id },
        drafts: without(state.drafts, (name) => name.startsWith('onboarding')),
      };
  }
}

const nobody = { holder: null, returnTo: null } as const;

function entered(state: DeskState, holder: Holder): DeskState {
  const { id } = holder.user;
  const isSame = state.lastUserId === null || state.lastUserId === id;
  return {
    ...state,
    holder,
    lastUserId: id,
    path: (isSame ? state.returnTo : null) ?? ['home'],
    returnTo: null,
    remark: null,
    // Whoever has let us in has a contract as well.
    contract: state.contract === 'missing' ? 'asked' : state.contract,
    // The password is not kept; and what somebody else has typed is not for this user.
    drafts: isSame ? letOff(without(state.drafts, (name) => name === 'login')) : {},
  };
}

/** What was refused to the session before is no fault of what was typed. */
function letOff(drafts: DeskState['drafts']): DeskState['drafts'] {
  return Object.fromEntries(
    Object.entries(drafts).map(([name, draft]) => [name, { ...draft, refusals: {} }]),
  );
}

function without(
  drafts: DeskState['drafts'],
  isOut: (name: string) => boolean,
): DeskState['drafts'] {
  return Object.fromEntries(Object.entries(drafts).filter(([name]) => !isOut(name)));
}

/**
 * Asks the operator's command, which prints JSON.
 * @throws Error with what the command says.
 */
export type Operate = (words: readonly string[], signal: AbortSignal) => Promise<unknown>;
