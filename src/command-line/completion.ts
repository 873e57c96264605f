import { Argument, Command } from 'commander';

import { type Terminal, ReportedFailure } from './terminal.ts';

const BASH = `_fieldledger() {
  local IFS=$'\\n'
  COMPREPLY=($(fieldledger completion bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null))
}
complete -o default -F _fieldledger fieldledger
`;

/** Each shell's completion script, which asks this program for words. If there are none, the shell completes file names. */
const SCRIPTS = {
  bash: BASH,
  // zsh can run bash's script.
  zsh: `autoload -U +X bashcompinit && bashcompinit\n${BASH}`,
  fish: `function __fieldledger
  set -l words (commandline -opc) (commandline -ct)
  set -l found (fieldledger completion fish -- $words[2..-1] 2> /dev/null)
  and printf '%s\\n' $found
  or __fish_complete_path (commandline -ct)
end
complete -c fieldledger -f -a '(__fieldledger)'
`,
};

/** `fieldledger completion`: prints a shell's completion script or, when that script calls it, the words that fit. */
export function completionCommand(terminal: Terminal): Command {
  const command = new Command('completion')
    .description('print what makes a shell complete these commands with the tab key')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(SCRIPTS)))
    .argument('[words...]', 'the line so far; the shell asks for words that fit at its end');
  return command.action((shell: keyof typeof SCRIPTS, words: string[]) => {
    const last = words.pop();
    if (last === undefined) {
      terminal.print(SCRIPTS[shell]);
      return;
    }
    // Only the parent program knows all commands.
    const fitting = wordsAfter(words, command.parent ?? command, last.startsWith('-'));
    const lines = fitting
      .filter(([word = '']) => word.startsWith(last))
      // Only fish shows descriptions.
      .map(([word, help]) => (shell === 'fish' && help ? `${word}\t${help}\n` : `${word}\n`));
    if (lines.length === 0) throw new ReportedFailure();
    terminal.print(lines.join(''));
  });
}

/** Returns the words that can follow the given ones, each with its description. */
function wordsAfter(words: readonly string[], program: Command, areOptions: boolean): string[][] {
  let command = program;
  for (const word of words) command = command.commands.find((below) => below.name() === word) ?? command;
  const help = command.createHelp();
  const options = help.visibleOptions(command);
  const option = options.find(({ long }) => long === words.at(-1));
  if (option?.required) return (option.argChoices ?? []).map((choice) => [choice]);
  if (areOptions) return options.map(({ long, description }) => [long ?? '', description]);
  const choices = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []);
  return [
    ...help.visibleCommands(command).map((below) => [below.name(), below.description()]),
    ...choices.map((choice) => [choice]),
  ];
}
