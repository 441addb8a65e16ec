import { quoted, type CompletedCommand, type CompletedValue } from './tree.ts';

/** The completion for zsh: sourced after `compinit`, or a file `_ponte` in a folder of `fpath`. */
export function zshScript(commands: readonly CompletedCommand[]): string {
  const paths = commands.slice(1).map(({ path }) => quoted(path));
  return `#compdef ponte
# Completion of ponte for zsh: source <(ponte completion zsh)
_ponte() {
  local at='' index
  local -a next flags
  for ((index = 2; index < CURRENT; index++)); do
    case "$at \${words[index]}" in
      ${paths.join(' | ')}) at="$at \${words[index]}" ;;
    esac
  done
  case "$at|\${words[CURRENT - 1]}" in
${valueCases(commands)}
  esac
  case "$at" in
${commands.map(wordCase).join('\n')}
  esac
  if [[ "\${words[CURRENT]}" == -* ]] || (( \${#next} == 0 )); then
    _describe -o option flags
  else
    _describe command next
  fi
}
compdef _ponte ponte`;
}

function valueCases(commands: readonly CompletedCommand[]): string {
  return commands
    .flatMap(({ path, options }) =>
      options.flatMap(({ flag, value }) =>
        value
          ? [`    ${quoted(`${path}|${flag}`)})\n      ${answer(value)}\n      return\n      ;;`]
          : [],
      ),
    )
    .join('\n');
}

function answer({ choices, isPath }: CompletedValue): string {
  if (isPath) return '_files';
  return choices.length > 0 ? `compadd -- ${choices.map(quoted).join(' ')}` : ':';
}

function wordCase({ path, words, options }: CompletedCommand): string {
  const next = words.map(({ word, description }) => described(word, description));
  const flags = options.map(({ flag, description }) => described(flag, description));
  return `    ${quoted(path)})
      next=(${next.join(' ')})
      flags=(${flags.join(' ')})
      ;;`;
}

function described(word: string, description: string): string {
  return quoted(description === '' ? word : `${word}:${description}`);
}
