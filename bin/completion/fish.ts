import { quoted, type CompletedCommand, type CompletedOption } from './tree.ts';

/** The completion for fish. */
export function fishScript(commands: readonly CompletedCommand[]): string {
  const paths = commands.slice(1).map(({ path }) => quoted(path));
  return `# Completion of ponte for fish: ponte completion fish | source
function __ponte_at
  set -l at ''
  set -l typed (commandline -opc)
  for word in $typed[2..-1]
    if contains -- "$at $word" ${paths.join(' ')}
      set at "$at $word"
    end
  end
  test "$at" = "$argv[1]"
end
complete -c ponte -f
${commands.flatMap(linesOf).join('\n')}`;
}

function linesOf({ path, words, options }: CompletedCommand): string[] {
  const here = `complete -c ponte -n ${quoted(`__ponte_at ${quoted(path)}`)}`;
  return [
    ...words.map(({ word, description }) => `${here} -a ${quoted(word)} -d ${quoted(description)}`),
    ...options.map((option) => `${here} ${flagOf(option)}`),
  ];
}

function flagOf({ flag, description, value }: CompletedOption): string {
  const name = flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`;
  const text = `${name} -d ${quoted(description)}`;
  if (value === null) return text;
  if (value.isPath) return `${text} -r -F`;
  return value.choices.length > 0
    ? `${text} -x -a ${quoted(value.choices.join(' '))}`
    : `${text} -x`;
}
