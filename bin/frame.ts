/** What `program.ts` and the declarations of commands in `groups/` have in common. */
import type { Command } from 'commander';
import type { Desk } from './desk.ts';
import type { ExitCode } from './exit-codes.ts';

/** What a command does; after the desk come its arguments and its options. */
export type Run = (desk: Desk, ...typed: never[]) => Promise<ExitCode> | Promise<void>;

export interface Frame {
  readonly program: Command;
  /** Makes commander's action of a command whose file is loaded when it is called. */
  action(load: () => Promise<Run>): (...given: unknown[]) => Promise<void>;
}

/** Declares commands in the frame. */
export type Describe = (frame: Frame) => void;
