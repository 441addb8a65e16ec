/** The context of every screen of the console. */
import { createContext, useContext } from 'react';
import type { Api } from '../api.ts';
import type { Operate } from '../operate.ts';
import type { AppState, Change } from '../state/app-state.ts';

export interface AppValue {
  readonly api: Api;
  /** Null if the command on this machine is configured for another service. */
  readonly operate: Operate | null;
  /** The initial values of the login: the development user in `local`, otherwise empty. */
  readonly login: { readonly email: string; readonly password: string };
  /** False with NO_COLOR, and on terminals without colours. */
  readonly hasColours: boolean;
  /** Puts a text into the clipboard of the terminal (OSC 52), if the terminal allows that. */
  copy(text: string): void;
  readonly state: AppState;
  change(next: Change): void;
  /** Ends the console, after a question while a payment is in doubt. */
  quit(): void;
}

export const AppContext = createContext<AppValue | null>(null);

/** @throws Error outside `AppContext`. */
export function useApp(): AppValue {
  const value = useContext(AppContext);
  if (!value) throw new Error('useApp needs an AppContext');
  return value;
}
