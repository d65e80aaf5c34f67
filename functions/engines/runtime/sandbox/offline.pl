# Starts a program without a network, in an engine whose browser has one: only local sockets are left to it and its children.
#
# usage: perl offline.pl <program> [arguments]
#
# The filter comes on top of that of launch.pl, which refuses foreign architectures and what could undo this one. Where the
# kernel has no filters, that one is missing too and is reported as such.

use strict;
use warnings;
use Config;

# Numbers of system calls: first x86_64, then aarch64.
my %numbers = (prctl => [157, 167], seccomp => [317, 277], socket => [41, 198]);
my ($machine) = split /-/, $Config{archname};
my $column = {x86_64 => 0, aarch64 => 1}->{$machine};
if (defined $column) {
  my ($LOAD, $EQUAL, $RETURN) = (0x20, 0x15, 0x06);
  my ($ALLOW, $REFUSE) = (0x7fff0000, 0x00050000 | 97);
  my $step = sub { pack 'SCCL', @_ };
  my @filter = (
    $step->($LOAD, 0, 0, 0),
    $step->($EQUAL, 0, 3, $numbers{socket}[$column]),
    $step->($LOAD, 0, 0, 16),
    # AF_UNIX
    $step->($EQUAL, 1, 0, 1),
    $step->($RETURN, 0, 0, $REFUSE),
    $step->($RETURN, 0, 0, $ALLOW),
  );
  my $filter = join '', @filter;
  my $program = pack 'S x6 P', scalar @filter, $filter;
  # No new privileges, without which only root may add a filter.
  syscall $numbers{prctl}[$column], 38, 1, 0, 0, 0;
  syscall $numbers{seccomp}[$column], 1, 0, $program;
}
{ exec { $ARGV[0] } @ARGV }
die "offline.pl: $ARGV[0]: $!\n";
