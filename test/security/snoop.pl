# Stands in place of a program of an engine and looks for whatever it can reach. Writes what it found to $TMPDIR/found,
# one line each.
#
# usage: perl snoop.pl <secret> <host's process> <TCP port> <UDP port> <name for what is left behind> <file to read>…

use strict;
use warnings;
use Socket;
use POSIX ();

my ($secret, $host, $tcp, $udp, $name, @files) = @ARGV;
my %found = (ran => 1);
my $machine = (POSIX::uname())[4];
my $column = $machine eq 'aarch64' ? 1 : 0;
my %calls = (ptrace => [101, 117], process_vm_readv => [310, 270], unshare => [272, 97], keyctl => [250, 219]);
sub call { my ($call, @arguments) = @_; return syscall $calls{$call}[$column], @arguments }

sub holds {
  my ($path) = @_;
  open my $handle, '<', $path or return 0;
  local $/;
  my $text = <$handle> // '';
  return index($text, $secret) >= 0;
}

$found{'own environment'} = 1 if grep { index($_, $secret) >= 0 } values %ENV;
# Its own command line names the secret.
my @processes = grep { $_ != $$ } map { m{/(\d+)$} } glob '/proc/[0-9]*';
for my $pid (@processes) {
  $found{'environment of a process'} = 1 if holds("/proc/$pid/environ");
}
$found{'sees the host'} = 1 if -e "/proc/$host/status" && grep { $_ == $host } @processes;
$found{'opens the memory of the host'} = 1 if open my $memory, '<', "/proc/$host/mem";
$found{'signals the host'} = 1 if kill 0, $host;
if (call('ptrace', 16, $host + 0, 0, 0) == 0) { $found{'traces the host'} = 1; call('ptrace', 17, $host + 0, 0, 0) }
if (open my $maps, '<', "/proc/$host/maps") {
  my ($address) = map { /^([0-9a-f]+)-/ ? hex $1 : () } <$maps>;
  my $buffer = "\0" x 16;
  my $local = pack 'P Q', $buffer, 16;
  my $remote = pack 'Q Q', $address // 0, 16;
  $found{'copies the memory of the host'} = 1 if call('process_vm_readv', $host + 0, $local, 1, $remote, 1, 0) > 0;
}
for my $index (0 .. $#files) { $found{"file $index"} = 1 if holds($files[$index]) }
$found{'new user namespace'} = 1 if call('unshare', 0x10000000) == 0;
$found{'keys of the kernel'} = 1 if call('keyctl', 0, -3, 0, 0, 0) >= 0;

if (socket my $socket, PF_INET, SOCK_STREAM, 0) {
  $found{'a TCP server'} = 1 if connect $socket, pack_sockaddr_in($tcp, inet_aton('127.0.0.1'));
}
if (socket my $socket, PF_INET, SOCK_DGRAM, 0) {
  $found{'a UDP server'} = 1 if send $socket, $name, 0, pack_sockaddr_in($udp, inet_aton('127.0.0.1'));
}
for my $folder ('/tmp', '/var/tmp', '/dev/shm') {
  open my $handle, '>', "$folder/$name" or next;
  print $handle $name;
}

my $folder = $ENV{TMPDIR};
# Twice forked, in a session of its own, without its parent's descriptors or environment: nothing ties it to the task.
if (my $child = fork) { waitpid $child, 0 }
elsif (defined $child) {
  POSIX::setsid();
  POSIX::_exit(0) if fork;
  close $_ for *STDIN, *STDOUT, *STDERR;
  exec { '/usr/bin/env' } 'env', '-i', '/usr/bin/perl', '-e', 'sleep 60', $name;
}
select undef, undef, undef, 0.2;

open my $report, '>', "$folder/found" or die "found: $!";
print $report map { "$_\n" } sort keys %found;
close $report;
exit 1;
