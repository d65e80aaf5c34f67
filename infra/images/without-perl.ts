import { lambdaUser } from './builder.ts';

/**
 * Returns a command that runs another one as Lambda's Node runtime does: as an ordinary user, and without Perl, which
 * every Debian has and that runtime lacks. A mount namespace hides it behind a file that cannot be executed.
 */
export function withoutPerl(command: string[]): string[] {
  const [user, group] = lambdaUser.split(':');
  const hide = 'for perl in /usr/bin/perl*; do mount --bind /dev/null "$perl" || exit; done; exec "$@"';
  const hidden = ['--mount', 'sh', '-c', hide, 'sh'];
  return process.getuid?.() === 0
    ? ['unshare', ...hidden, 'setpriv', `--reuid=${user}`, `--regid=${group}`, '--clear-groups', ...command]
    : ['unshare', '--map-root-user', ...hidden, 'unshare', `--map-user=${user}`, `--map-group=${group}`, ...command];
}
