/** The completion scripts of shells, made from the declared commands. */
import type { Argument, Command, Option } from 'commander';

export interface CompletedCommand {
  /** With a blank before each word, such as ` user list`; empty for `ponte` itself. */
  readonly path: string;
  /** The words that may follow: subcommands, or the choices of an argument. */
  readonly words: readonly { readonly word: string; readonly description: string }[];
  readonly options: readonly CompletedOption[];
}

interface CompletedOption {
  readonly flag: string;
  readonly description: string;
  /** Null when the option takes no value. */
  readonly value: CompletedValue | null;
}

interface CompletedValue {
  /** Empty when any value is valid. */
  readonly choices: readonly string[];
  readonly isPath: boolean;
}

/** @returns the command and all its subcommands. */
export function describeCommands(command: Command, path = ''): CompletedCommand[] {
  const help = command.createHelp();
  const subcommands = help.visibleCommands(command);
  const choices = command.registeredArguments.flatMap((argument) => listChoices(argument));
  return [
    {
      path,
      words: [...describeWords(subcommands), ...choices.map((word) => ({ word, description: '' }))],
      options: help.visibleOptions(command).map(describeOption),
    },
    ...subcommands.flatMap((one) =>
      command.commands.includes(one)
        ? describeCommands(one, `${path} ${one.name()}`)
        : describeHelp(command, `${path} ${one.name()}`),
    ),
  ];
}

/** `help` is not a declared command; the commands that it explains follow it. */
function describeHelp({ commands }: Command, path: string): CompletedCommand[] {
  if (commands.length === 0) return [];
  const below = commands.flatMap((one) => describeHelp(one, `${path} ${one.name()}`));
  return [{ path, words: describeWords(commands), options: [] }, ...below];
}

function describeWords(commands: readonly Command[]): CompletedCommand['words'] {
  return commands.map((one) => ({ word: one.name(), description: one.description() }));
}

function describeOption(option: Option): CompletedOption {
  const isPath = /<(?:file|folder|path)>/.test(option.flags);
  const takesValue = option.required || option.optional;
  return {
    flag: option.long ?? option.short ?? option.flags,
    description: option.description,
    value: takesValue ? { choices: listChoices(option), isPath } : null,
  };
}

function listChoices({ argChoices }: Argument | Option): readonly string[] {
  return argChoices ?? [];
}

/** Each takes every command, and `ponte` itself first. */
export const completionScripts = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;

/** For bash 3.2 and later, without the package bash-completion. The script starts no process. */
function bashScript(commands: readonly CompletedCommand[]): string {
  return `# Completion of ponte for bash: source <(ponte completion bash)
_ponte() {
  local at='' word words='' options='' index
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]}
  # bash passes the = between an option and its value as a word.
  if [ "$current" = '=' ]; then
    current=''
  elif [ "$previous" = '=' ]; then
    previous=\${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for ((index = 1; index < COMP_CWORD; index++)); do
    word=\${COMP_WORDS[index]}
    case "$at $word" in
      ${quotePaths(commands).join(' | ')}) at="$at $word" ;;
    esac
  done
  case "$at|$previous" in
${valueCases(commands, bashValue)}
  esac
  case "$at" in
${commands.map(bashCase).join('\n')}
  esac
  case "$current" in
    -*) words=$options ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _ponte ponte`;
}

function bashCase({ path, words, options }: CompletedCommand): string {
  const next = words.map(({ word }) => word).join(' ');
  const flags = options.map(({ flag }) => flag).join(' ');
  return `    ${quote(path)})
      words=${quote(next === '' ? flags : next)}
      options=${quote(flags)}
      ;;`;
}

function bashValue({ choices, isPath }: CompletedValue): string {
  if (!isPath && choices.length === 0) return 'COMPREPLY=()';
  const source = isPath ? '-f' : `-W ${quote(choices.join(' '))}`;
  return `COMPREPLY=($(compgen ${source} -- "$current"))`;
}

/** For zsh: sourced after `compinit`, or a file `_ponte` in a folder of `fpath`. */
function zshScript(commands: readonly CompletedCommand[]): string {
  return `#compdef ponte
# Completion of ponte for zsh: source <(ponte completion zsh)
_ponte() {
  local at='' index
  local -a next flags
  for ((index = 2; index < CURRENT; index++)); do
    case "$at \${words[index]}" in
      ${quotePaths(commands).join(' | ')}) at="$at \${words[index]}" ;;
    esac
  done
  case "$at|\${words[CURRENT - 1]}" in
${valueCases(commands, zshValue)}
  esac
  case "$at" in
${commands.map(zshCase).join('\n')}
  esac
  if [[ "\${words[CURRENT]}" == -* ]] || (( \${#next} == 0 )); then
    _describe -o option flags
  else
    _describe command next
  fi
}
compdef _ponte ponte`;
}

function zshCase({ path, words, options }: CompletedCommand): string {
  const entry = (word: string, description: string): string =>
    quote(description === '' ? word : `${word}:${description}`);
  const next = words.map(({ word, description }) => entry(word, description));
  const flags = options.map(({ flag, description }) => entry(flag, description));
  return `    ${quote(path)})
      next=(${next.join(' ')})
      flags=(${flags.join(' ')})
      ;;`;
}

function zshValue({ choices, isPath }: CompletedValue): string {
  if (isPath) return '_files';
  return choices.length > 0 ? `compadd -- ${choices.map(quote).join(' ')}` : ':';
}

function fishScript(commands: readonly CompletedCommand[]): string {
  return `# Completion of ponte for fish: ponte completion fish | source
function __ponte_at
  set -l at ''
  set -l typed (commandline -opc)
  for word in $typed[2..-1]
    if contains -- "$at $word" ${quotePaths(commands).join(' ')}
      set at "$at $word"
    end
  end
  test "$at" = "$argv[1]"
end
complete -c ponte -f
${commands.flatMap(fishLines).join('\n')}`;
}

function fishLines({ path, words, options }: CompletedCommand): string[] {
  const line = `complete -c ponte -n ${quote(`__ponte_at ${quote(path)}`)}`;
  return [
    ...words.map(({ word, description }) => `${line} -a ${quote(word)} -d ${quote(description)}`),
    ...options.map((option) => `${line} ${fishOption(option)}`),
  ];
}

function fishOption({ flag, description, value }: CompletedOption): string {
  const name = flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`;
  const text = `${name} -d ${quote(description)}`;
  if (value === null) return text;
  if (value.isPath) return `${text} -r -F`;
  return value.choices.length > 0
    ? `${text} -x -a ${quote(value.choices.join(' '))}`
    : `${text} -x`;
}

/** The cases of bash and zsh for the word after an option that takes a value; they return. */
function valueCases(
  commands: readonly CompletedCommand[],
  complete: (value: CompletedValue) => string,
): string {
  const cases = commands.flatMap(({ path, options }) =>
    options.flatMap(({ flag, value }) => {
      if (value === null) return [];
      return [`    ${quote(`${path}|${flag}`)})\n      ${complete(value)}\n      return\n      ;;`];
    }),
  );
  return cases.join('\n');
}

function quotePaths(commands: readonly CompletedCommand[]): string[] {
  return commands.slice(1).map(({ path }) => quote(path));
}

/** Quotes a text for any shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
