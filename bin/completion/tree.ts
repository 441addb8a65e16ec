/** What a shell has to know of the commands, read from their declarations. */
import type { Argument, Command, Option } from 'commander';

export interface CompletedOption {
  readonly flag: string;
  readonly description: string;
  /** What stands after it; null when it stands alone. */
  readonly value: CompletedValue | null;
}

export interface CompletedValue {
  /** The values that there are; empty when anything will do. */
  readonly choices: readonly string[];
  /** A file or a folder is asked for. */
  readonly isPath: boolean;
}

export interface CompletedCommand {
  /** With a blank before each word, such as ` user list`; empty for `ponte` itself. */
  readonly path: string;
  /** What may stand next: subcommands, or the choices of an argument. */
  readonly words: readonly { readonly word: string; readonly description: string }[];
  readonly options: readonly CompletedOption[];
}

/** @returns the command and all below it. */
export function completedCommands(command: Command, path = ''): CompletedCommand[] {
  const help = command.createHelp();
  const below = help.visibleCommands(command);
  const words = below.map((one) => ({ word: one.name(), description: one.description() }));
  const choices = command.registeredArguments.flatMap((argument) => choicesOf(argument));
  return [
    {
      path,
      words: [...words, ...choices.map((word) => ({ word, description: '' }))],
      options: help.visibleOptions(command).map(completedOption),
    },
    ...below.flatMap((one) =>
      command.commands.includes(one)
        ? completedCommands(one, `${path} ${one.name()}`)
        : completedHelp(command, `${path} ${one.name()}`),
    ),
  ];
}

/** Behind `help`, which is not among the declared commands, stand those that it explains. */
function completedHelp(of: Command, path: string): CompletedCommand[] {
  if (of.commands.length === 0) return [];
  const words = of.commands.map((one) => ({ word: one.name(), description: one.description() }));
  const deeper = of.commands.flatMap((one) => completedHelp(one, `${path} ${one.name()}`));
  return [{ path, words, options: [] }, ...deeper];
}

function choicesOf({ argChoices }: Argument | Option): readonly string[] {
  return argChoices ?? [];
}

function completedOption(option: Option): CompletedOption {
  const takesValue = option.required || option.optional;
  return {
    flag: option.long ?? option.short ?? option.flags,
    description: option.description,
    value: takesValue
      ? { choices: choicesOf(option), isPath: /<(?:file|folder|path)>/.test(option.flags) }
      : null,
  };
}

/** Puts a text between single quotes, for any shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
