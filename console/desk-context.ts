/** The desk that every screen stands at. */
import { createContext, useContext } from 'react';
import type { Api } from './api.ts';
import type { DeskAction, DeskState, Operate } from './model/desk.ts';

export interface Desk {
  readonly api: Api;
  /** Null where the service is not the one that the command on this machine works on. */
  readonly operate: Operate | null;
  /** What the login begins with: in local the development user. */
  readonly login: { readonly email: string; readonly password: string };
  /** False with NO_COLOR, and on terminals that have none. */
  readonly hasColours: boolean;
  readonly state: DeskState;
  act(action: DeskAction): void;
}

export const DeskContext = createContext<Desk | null>(null);

/** @throws Error outside the console. */
export function useDesk(): Desk {
  const desk = useContext(DeskContext);
  if (!desk) throw new Error('a screen stands in the console');
  return desk;
}
