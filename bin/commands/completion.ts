/** `ponte completion`: the script that a shell reads. */
import type { Command } from 'commander';
import { bashScript } from '../completion/bash.ts';
import { fishScript } from '../completion/fish.ts';
import { completedCommands } from '../completion/tree.ts';
import { zshScript } from '../completion/zsh.ts';
import type { Desk } from '../desk.ts';

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;

export type Shell = keyof typeof scripts;

/** Prints the script for a shell, made from the commands as they are declared. */
export async function completion(
  { terminal }: Desk,
  shell: Shell,
  program: Command,
): Promise<void> {
  terminal.print(scripts[shell](completedCommands(program)));
}
