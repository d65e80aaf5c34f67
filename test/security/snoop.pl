# Stands in for a program of an engine and finds out what it can reach. It opens and closes, connects and lists, and reads
# no content but the environments of processes, for a secret of the test. Writes what it found to $TMPDIR/found, one line each.
#
# usage: perl snoop.pl <secret> <host's process> <name for what is left behind> <kind>:<label>=<target>…

use strict;
use warnings;
use Socket qw(:DEFAULT inet_pton pack_sockaddr_in6);
use POSIX ();

my ($secret, $host, $name, @probes) = @ARGV;
my %found;
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

# First, before this script opens any.
my @descriptors = do { opendir my $own, '/proc/self/fd' or die "descriptors: $!"; grep { /^\d+$/ } readdir $own };
for my $number (@descriptors) {
  my $target = readlink "/proc/self/fd/$number" or next;
  $target =~ s/:\[.*//;
  $found{"descriptor $number $target"} = 1;
}
$found{"variable $_"} = 1 for keys %ENV;
$found{'does find the secret in its environment'} = 1 if grep { index($_, $secret) >= 0 } values %ENV;

my @processes = map { m{/(\d+)$} } glob '/proc/[0-9]*';
my @related = ($host, getppid);
while ($related[-1] > 1 && open my $stat, '<', "/proc/$related[-1]/stat") { push @related, <$stat> =~ /^.*\) \S (\d+)/s }
for my $pid (@related) { $found{'does find the secret in an environment'} = 1 if holds("/proc/$pid/environ") }
$found{'does see the host'} = 1 if -e "/proc/$host/status" && grep { $_ == $host } @processes;
$found{'does signal the host'} = 1 if kill 0, $host;
if (call('ptrace', 16, $host + 0, 0, 0) == 0) { $found{'does trace the host'} = 1; call('ptrace', 17, $host + 0, 0, 0) }
if (open my $maps, '<', "/proc/$host/maps") {
  my ($address) = map { /^([0-9a-f]+)-/ ? hex $1 : () } <$maps>;
  my $buffer = "\0" x 16;
  my $local = pack 'P Q', $buffer, 16;
  my $remote = pack 'Q Q', $address // 0, 16;
  $found{'does copy memory of the host'} = 1 if call('process_vm_readv', $host + 0, $local, 1, $remote, 1, 0) > 0;
}
$found{'does make a namespace of users'} = 1 if call('unshare', 0x10000000) == 0;
$found{'does use keys of the kernel'} = 1 if call('keyctl', 0, -3, 0, 0, 0) >= 0;

sub reads {
  my ($path) = @_;
  return -d $path ? opendir(my $folder, $path) : open(my $file, '<', $path);
}

sub writes {
  my ($path) = @_;
  return open(my $file, '+<', $path) unless -d $path;
  open my $created, '>', "$path/$name" or return 0;
  return unlink "$path/$name";
}

sub address {
  my ($version, $port) = @_;
  return pack_sockaddr_in($port, inet_aton('127.0.0.1')) if $version == PF_INET;
  return pack_sockaddr_in6($port, inet_pton(AF_INET6, '::1'));
}

sub connects {
  my ($family, $type, $address) = @_;
  socket my $socket, $family, $type, 0 or return 0;
  return connect $socket, $address;
}

sub sends {
  my ($family, $address) = @_;
  socket my $socket, $family, SOCK_DGRAM, 0 or return 0;
  return send $socket, $name, 0, $address;
}

my %reaches = (
  tcp4 => sub { connects(PF_INET, SOCK_STREAM, address(PF_INET, @_)) },
  tcp6 => sub { connects(PF_INET6, SOCK_STREAM, address(PF_INET6, @_)) },
  udp4 => sub { sends(PF_INET, address(PF_INET, @_)) },
  udp6 => sub { sends(PF_INET6, address(PF_INET6, @_)) },
  socket => sub { connects(PF_UNIX, SOCK_STREAM, pack_sockaddr_un($_[0])) },
  abstract => sub { connects(PF_UNIX, SOCK_STREAM, pack_sockaddr_un("\0$_[0]")) },
  # Connecting a UDP socket looks for a route and sends nothing.
  route => sub { connects(PF_INET, SOCK_DGRAM, pack_sockaddr_in(9, inet_aton($_[0]))) },
);

for (@probes) {
  my ($kind, $label, $target) = /^(\w+):([^=]+)=(.*)$/s or die "unknown probe $_\n";
  if ($kind eq 'path') {
    $found{"reads $label"} = 1 if reads($target);
    $found{"writes $label"} = 1 if writes($target);
  }
  elsif ($reaches{$kind}->($target)) { $found{"reaches $label"} = 1 }
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
