import type { ParseArgsConfig } from 'node:util';
import { jobActions } from './job.ts';
import { flags, parse } from './options.ts';
import type { Output } from './terminal.ts';
import { exitCodes, summaries, UsageError } from './usage.ts';

const shells = { bash, zsh, fish };

/** Runs `lathe completion`: prints a script that completes commands, flags and files. */
export async function completion(args: string[], { out }: Output): Promise<number> {
  const { positionals } = parse(args, flags.completion);
  const script = Object.entries(shells).find(([name]) => positionals.length === 1 && name === positionals[0])?.[1];
  if (!script) throw new UsageError('Expected bash, zsh or fish. See lathe help completion.');
  out.write(script());
  return exitCodes.done;
}

interface Flag {
  long: string;
  short: string | undefined;
  hasValue: boolean;
}

/** Returns the commands with their flags and the words that can follow them. */
function commands() {
  return Object.entries<NonNullable<ParseArgsConfig['options']>>(flags).map(([name, own]) => ({
    name,
    summary: summaries[name] ?? '',
    words: name === 'job' ? Object.keys(jobActions) : name === 'completion' ? Object.keys(shells) : [],
    flags: Object.entries(own).map(([long, { short, type }]): Flag => ({ long, short, hasValue: type === 'string' })),
  }));
}

function flagWords(list: Flag[]): string {
  return list.flatMap(({ long, short }) => [`--${long}`, ...(short === undefined ? [] : [`-${short}`])]).join(' ');
}

function names(): string {
  return [...commands().map(({ name }) => name), 'help', '--version'].join(' ');
}

/** Flags after a dash, and otherwise words or files. */
function cases(): string {
  return commands()
    .map(
      ({ name, flags: own, words }) => `    ${name}) own_flags='${flagWords(own)}' own_words='${words.join(' ')}' ;;\n`,
    )
    .join('');
}

function bash(): string {
  return `# eval "$(lathe completion bash)"
_lathe() {
  local current="\${COMP_WORDS[COMP_CWORD]}" own_flags='' own_words=''
  if (( COMP_CWORD == 1 )); then
    COMPREPLY=($(compgen -W '${names()}' -- "$current"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
    help) own_words='${names()}' ;;
${cases()}  esac
  COMPREPLY=()
  if [[ $current == -* ]]; then COMPREPLY=($(compgen -W "$own_flags" -- "$current"))
  elif (( COMP_CWORD == 2 )); then COMPREPLY=($(compgen -W "$own_words" -- "$current"))
  fi
}
complete -o default -F _lathe lathe
`;
}

function zsh(): string {
  return `#compdef lathe
# eval "$(lathe completion zsh)"
_lathe() {
  local own_flags='' own_words=''
  if (( CURRENT == 2 )); then
    compadd -- ${names()}
    return
  fi
  case $words[2] in
    help) own_words='${names()}' ;;
${cases()}  esac
  if [[ $PREFIX == -* ]]; then compadd -- \${=own_flags}
  elif (( CURRENT == 3 )) && [[ -n $own_words ]]; then compadd -- \${=own_words}
  else _files
  fi
}
compdef _lathe lathe
`;
}

function fish(): string {
  const lines = commands().flatMap(({ name, summary, words, flags: own }) => [
    `complete -c lathe -n __fish_use_subcommand -f -a ${name} -d '${summary}'`,
    ...words.map((word) => `complete -c lathe -n '__fish_seen_subcommand_from ${name}' -f -a ${word}`),
    ...own.map(
      ({ long, short, hasValue }) =>
        `complete -c lathe -n '__fish_seen_subcommand_from ${name}' -l ${long}${short === undefined ? '' : ` -s ${short}`}${hasValue ? ' -r' : ''}`,
    ),
  ]);
  return `# lathe completion fish | source\n${lines.join('\n')}\n`;
}
