import { Argument } from 'commander';
import type { Shell } from '../commands/completion.ts';
import type { Desk } from '../desk.ts';
import type { Describe } from '../frame.ts';

/** `completion`: what a shell offers at the Tab key. */
export const describeCompletion: Describe = ({ program, action }) => {
  program
    .command('completion')
    .description('print the script that lets a shell complete commands, options and their values')
    .addArgument(new Argument('<shell>', 'your shell').choices(['bash', 'zsh', 'fish']))
    .addHelpText('after', completionExample)
    .action(
      action(async () => {
        const { completion } = await import('../commands/completion.ts');
        return (desk: Desk, shell: Shell) => completion(desk, shell, program);
      }),
    );
};

const completionExample = `
Examples:
  source <(ponte completion bash)      in ~/.bashrc
  source <(ponte completion zsh)       in ~/.zshrc, after compinit
  ponte completion fish | source       in ~/.config/fish/config.fish`;
