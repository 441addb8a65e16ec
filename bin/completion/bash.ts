import { quoted, type CompletedCommand } from './tree.ts';

/**
 * The completion for bash, from 3.2 on, without the package bash-completion. It asks no process: a
 * key is answered at once, and nothing that is being typed is run.
 */
export function bashScript(commands: readonly CompletedCommand[]): string {
  const paths = commands.slice(1).map(({ path }) => quoted(path));
  return `# Completion of ponte for bash: source <(ponte completion bash)
_ponte() {
  local at='' word words='' options='' index
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]}
  # bash takes the sign between an option and its value for a word.
  if [ "$current" = '=' ]; then
    current=''
  elif [ "$previous" = '=' ]; then
    previous=\${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for ((index = 1; index < COMP_CWORD; index++)); do
    word=\${COMP_WORDS[index]}
    case "$at $word" in
      ${paths.join(' | ')}) at="$at $word" ;;
    esac
  done
  case "$at|$previous" in
${valueCases(commands)}
  esac
  case "$at" in
${commands.map(wordCase).join('\n')}
  esac
  case "$current" in
    -*) words=$options ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _ponte ponte`;
}

/** A value ends the looking: what follows an option that takes one is no command. */
function valueCases(commands: readonly CompletedCommand[]): string {
  return commands
    .flatMap(({ path, options }) =>
      options.flatMap(({ flag, value }) => {
        if (value === null) return [];
        const found = value.isPath
          ? '-f'
          : value.choices.length > 0 && `-W ${quoted(value.choices.join(' '))}`;
        const answer = found ? `COMPREPLY=($(compgen ${found} -- "$current"))` : 'COMPREPLY=()';
        return [`    ${quoted(`${path}|${flag}`)})\n      ${answer}\n      return\n      ;;`];
      }),
    )
    .join('\n');
}

function wordCase({ path, words, options }: CompletedCommand): string {
  const next = words.map(({ word }) => word).join(' ');
  const flags = options.map(({ flag }) => flag).join(' ');
  return `    ${quoted(path)})
      words=${quoted(next === '' ? flags : next)}
      options=${quoted(flags)}
      ;;`;
}
