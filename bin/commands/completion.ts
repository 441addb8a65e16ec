/** `ponte completion`: the script that completes command lines in a shell. */
import { Argument } from 'commander';
import { completionScripts, describeCommands } from '../completion.ts';
import type { Context, Declare } from '../context.ts';

export const declare: Declare = (noun, run) => {
  noun
    .addArgument(new Argument('<shell>', 'your shell').choices(Object.keys(completionScripts)))
    .addHelpText('after', example)
    .action(
      run(async ({ terminal }: Context, shell: keyof typeof completionScripts) => {
        const program = noun.parent ?? noun;
        terminal.print(completionScripts[shell](describeCommands(program)));
      }),
    );
};

const example = `
Examples:
  source <(ponte completion bash)      in ~/.bashrc
  source <(ponte completion zsh)       in ~/.zshrc, after compinit
  ponte completion fish | source       in ~/.config/fish/config.fish`;
