# Runs a program on a kernel that grants neither namespaces nor mounts nor Landlock, as an unprivileged container does; with
# --lambda one that refuses prctl and filters of calls as well, as is reported of functions of AWS Lambda.
#
# usage: perl mask.pl [--user <number>] [--lambda] <program> [arguments]

use strict;
use warnings;
use POSIX ();

my $user;
if ($ARGV[0] eq '--user') { shift @ARGV; $user = 0 + shift @ARGV }
my @refused = qw(mount setns unshare);
if ($ARGV[0] eq '--lambda') { shift @ARGV; push @refused, qw(prctl seccomp) }
my $column = (POSIX::uname())[4] eq 'aarch64' ? 1 : 0;
my %calls = (
  clone => [56, 220], clone3 => [435, 435], landlock_create_ruleset => [444, 444], mount => [165, 40],
  prctl => [157, 167], seccomp => [317, 277], setgroups => [116, 159], setns => [308, 268], setresgid => [119, 149],
  setresuid => [117, 147], unshare => [272, 97],
);
sub call { my ($call, @arguments) = @_; return syscall $calls{$call}[$column], @arguments }

if (defined $user) {
  call('setgroups', 0, 0) == 0 && call('setresgid', $user, $user, $user) == 0 && call('setresuid', $user, $user, $user) == 0
    or die "mask.pl: user: $!\n";
}
my ($EPERM, $ENOSYS) = (1, 38);
my $step = sub { pack 'SCCL', @_ };
my $refuse = sub { $step->(0x06, 0, 0, 0x00050000 | $_[0]) };
my @filter = ($step->(0x20, 0, 0, 0));
push @filter, $step->(0x15, 0, 1, $calls{$_}[$column]), $refuse->($EPERM) for @refused;
push @filter, $step->(0x15, 0, 1, $calls{$_}[$column]), $refuse->($ENOSYS) for qw(landlock_create_ruleset clone3);
push @filter,
  $step->(0x15, 0, 3, $calls{clone}[$column]),
  $step->(0x20, 0, 0, 16),
  $step->(0x45, 0, 1, 0x7E020000),
  $refuse->($EPERM),
  $step->(0x06, 0, 0, 0x7fff0000);
my $filter = join '', @filter;
# Root needs no promise to gain no privileges, and without it a change of user stays possible below.
call('prctl', 38, 1, 0, 0, 0) == 0 or die "mask.pl: prctl: $!\n" if $>;
call('seccomp', 1, 0, pack 'S x6 P', scalar @filter, $filter) == 0 or die "mask.pl: seccomp: $!\n";
exec { $ARGV[0] } @ARGV or die "mask.pl: $ARGV[0]: $!\n";
