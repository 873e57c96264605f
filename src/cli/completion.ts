import { Argument, Command, type Option } from 'commander';

import type { Terminal } from './terminal.ts';

/** The words and options that may follow a command. */
interface Place {
  /** The words that lead to it, `webhook create` for example; empty for the program itself. */
  path: string;
  /** The commands below it, and the choices of its arguments. */
  words: { name: string; help: string }[];
  options: Option[];
}

/** `fieldledger completion`: prints what makes a shell complete our command lines. */
export function completionCommand(terminal: Terminal): Command {
  const command = new Command('completion')
    .description('print what makes a shell complete these commands with the tab key')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(WRITERS)));
  return command.action((shell: keyof typeof WRITERS) => {
    // Only the program knows all commands.
    if (command.parent) terminal.print(WRITERS[shell](placesIn(command.parent)));
  });
}

function placesIn(command: Command, path: readonly string[] = []): Place[] {
  const help = command.createHelp();
  const commands = help.visibleCommands(command);
  const choices = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []);
  const words = [
    ...commands.map((below) => ({ name: below.name(), help: below.description() })),
    ...choices.map((name) => ({ name, help: '' })),
  ];
  const here = { path: path.join(' '), words, options: help.visibleOptions(command) };
  return [here, ...commands.flatMap((below) => placesIn(below, [...path, below.name()]))];
}

const WRITERS = {
  bash: bashScript,
  // zsh runs bash's.
  zsh: (places: readonly Place[]) => `autoload -U +X bashcompinit && bashcompinit\n${bashScript(places)}`,
  fish: fishScript,
};

/** Names of files are completed wherever nothing of ours fits. */
function bashScript(places: readonly Place[]): string {
  const paths = places.flatMap(({ path }) => (path === '' ? [] : [`' ${path}'`]));
  const cases = places.map(({ path, words, options }) => {
    const flags = options.flatMap(({ long }) => long ?? []);
    return `    '${path && ` ${path}`}') words='${namesOf(words)}' options='${flags.join(' ')}' ;;`;
  });
  return `_fieldledger() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path='' words='' options='' word
  for word in "\${COMP_WORDS[@]:1:$((COMP_CWORD - 1))}"; do
    case "$path $word" in
      ${paths.join('|')}) path="$path $word" ;;
    esac
  done
  case "$path" in
${cases.join('\n')}
  esac
  case "$current" in
    -*) words="$options" ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _fieldledger fieldledger
`;
}

function fishScript(places: readonly Place[]): string {
  const lines = places.flatMap(({ path, words, options }) => {
    const start = `complete -c fieldledger -n 'test x(__fieldledger_path) = "x${path && ` ${path}`}"'`;
    return [
      ...words.map(({ name, help }) => `${start} -f -a ${name} -d ${quoted(help)}`),
      ...options.flatMap(({ long, required, optional, argChoices, description }) => {
        if (!long) return [];
        const value = argChoices
          ? ` -x -a ${quoted(argChoices.join(' '))}`
          : required || optional
            ? ' -r'
            : '';
        return `${start} -l ${long.slice(2)}${value} -d ${quoted(description)}`;
      }),
    ];
  });
  const paths = places.flatMap(({ path }) => (path === '' ? [] : [`' ${path}'`]));
  return `function __fieldledger_path
  set -l path ''
  for word in (commandline -opc)[2..-1]
    contains -- "$path $word" ${paths.join(' ')}; and set path "$path $word"
  end
  echo "$path"
end
${lines.join('\n')}
`;
}

const namesOf = (words: Place['words']) => words.map(({ name }) => name).join(' ');

/** In fish, single quotes keep all but themselves and backslashes. */
function quoted(text: string): string {
  return `'${text.replaceAll(/['\\]/g, '\\$&')}'`;
}
