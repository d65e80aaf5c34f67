# Starts the process that touches users' files behind whatever barriers this kernel grants, and stays as its supervisor.
#
# usage: perl launch.pl --view <folder> --tmp <folder> --write <folder>… [--read <path>]… [--user <number>] [--network] -- <program> [arguments]
#
# Barriers are inherited, so every program that an engine starts is behind them at no cost. One that the kernel refuses is
# left out and reported with the reason, as a line of JSON on the standard output, before the program runs. The order is
# fixed: namespaces need the privileges that the change of user gives up, and the rules of Landlock and seccomp forbid mounts.
#
# A folder that the program may write to is given as path:device:inode, and is the one that was opened by the caller or none:
# programs of an earlier task may have put a link in its place, and this process mounts it as root.
#
# In Perl because every Debian has it, it starts in 3 ms, and its `syscall` reaches what Node cannot.

use strict;
use warnings;
# Not POSIX, which takes four times as long to load as the rest takes to run.
use Config;

my ($view, $tmp, @write, @read, $user, $network);
while (@ARGV) {
  my $option = shift @ARGV;
  last if $option eq '--';
  if ($option eq '--view') { $view = shift @ARGV }
  elsif ($option eq '--tmp') { push @write, $tmp = [(shift @ARGV) =~ /^(.*):(\d+):(\d+)$/] }
  elsif ($option eq '--write') { push @write, [(shift @ARGV) =~ /^(.*):(\d+):(\d+)$/] }
  elsif ($option eq '--read') { push @read, shift @ARGV }
  elsif ($option eq '--user') { $user = shift @ARGV }
  elsif ($option eq '--network') { $network = 1 }
  else { die "launch.pl: unknown option $option\n" }
}
my @command = @ARGV or die "launch.pl: no program is given\n";
die "launch.pl: a folder is missing\n" unless defined $view && defined $tmp;

# Numbers of system calls: first x86_64, then aarch64.
my %numbers = (
  acct => [163, 89], add_key => [248, 217], bpf => [321, 280], capset => [126, 91], chroot => [161, 51],
  clone => [56, 220], close => [3, 57], close_range => [436, 436], clone3 => [435, 435], delete_module => [176, 106], fanotify_init => [300, 262],
  finit_module => [313, 273], fsconfig => [431, 431], fsmount => [432, 432], fsopen => [430, 430], fspick => [433, 433],
  init_module => [175, 105], io_uring_enter => [426, 426], io_uring_register => [427, 427],
  io_uring_setup => [425, 425], ioctl => [16, 29], kcmp => [312, 272], kexec_file_load => [320, 294],
  kexec_load => [246, 104], keyctl => [250, 219], landlock_add_rule => [445, 445],
  landlock_create_ruleset => [444, 444], landlock_restrict_self => [446, 446], mount => [165, 40],
  mount_setattr => [442, 442], move_mount => [429, 429], open_by_handle_at => [304, 265], open_tree => [428, 428],
  openat => [257, 56], perf_event_open => [298, 241], pidfd_getfd => [438, 438], pivot_root => [155, 41],
  prctl => [157, 167], prlimit64 => [302, 261], process_madvise => [440, 440], process_vm_readv => [310, 270],
  process_vm_writev => [311, 271], ptrace => [101, 117], quotactl => [179, 60], quotactl_fd => [443, 443],
  reboot => [169, 142], request_key => [249, 218], seccomp => [317, 277], setgroups => [116, 159], setns => [308, 268],
  setresgid => [119, 149], setresuid => [117, 147], socket => [41, 198], swapoff => [168, 225], swapon => [167, 224],
  syslog => [103, 116], umount2 => [166, 39], unshare => [272, 97], userfaultfd => [323, 282],
);
my ($machine) = split /-/, $Config{archname};
my %columns = ('linux x86_64' => 0, 'linux aarch64' => 1);
my $column = $columns{"$^O $machine"};

my ($CLONE_NEWNS, $CLONE_NEWUTS, $CLONE_NEWIPC, $CLONE_NEWUSER, $CLONE_NEWPID, $CLONE_NEWNET) =
  (0x20000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000);
my $CLONE_ANY_NAMESPACE = 0x7E020000;
my ($SIGKILL, $SIGTERM, $SIGCHLD) = (9, 15, 17);
my ($EPERM, $EINTR, $EINVAL, $ENOSYS, $EAFNOSUPPORT) = (1, 4, 22, 38, 97);

# Read before there is a namespace of users, in which they are unknown until they are mapped.
my ($uid, $gid) = ($>, (split ' ', $))[0]);

# Each barrier with why it does not stand, until it does.
my %absent = map { $_ => 'it was not tried' } qw(user processes mounts files network ipc calls privileges orphans limits);
$absent{network} = 'the engine needs the network' if $network;
my $stands = sub { delete $absent{$_} for @_ };

sub call {
  my ($name, @arguments) = @_;
  return syscall $numbers{$name}[$column], @arguments;
}

sub prctl { call('prctl', map { $_ + 0 } @_, (0) x (5 - @_)) == 0 }

# What programs need of the system to run. Of /etc only that: what else is there tells of the machine.
my @system = (
  qw(/usr /bin /sbin /lib /lib32 /lib64 /opt /var/lang /var/runtime /nix/store),
  (map { "/var/$_" } qw(cache/fontconfig lib/ghostscript spool/libreoffice)),
  (map { "/etc/$_" } qw(alternatives calibre chromium chromium.d fonts ghostscript group gtk-3.0 ImageMagick-6 ImageMagick-7
    ld.so.cache ld.so.conf ld.so.conf.d libreoffice localtime locale.alias magic magic.mime mime.types nsswitch.conf
    OpenCL papersize passwd ssl/openssl.cnf timezone)),
  qw(/sys/devices/system/cpu /sys/fs/cgroup),
);
push @system, map { "/etc/$_" } qw(ca-certificates gai.conf host.conf hosts pki resolv.conf ssl/certs) if $network;
my @devices = map { "/dev/$_" } qw(full null random urandom zero);

if (!defined $column) {
  $absent{$_} = "system calls of $^O on $machine are not known here" for keys %absent;
  report();
  exec { $command[0] } @command or die "launch.pl: $command[0]: $!\n";
}

# A library may have opened files for the service without the flag that closes them here.
close_inherited();
# When the parent dies, so does everything below.
$SIG{TERM} = sub { end_children(); exit(128 + $SIGTERM) };
prctl(1, $SIGTERM);
# Whatever a program leaves behind, detached or not, becomes a child of this process, which collects it.
if (prctl(36, 1)) { $stands->('orphans') } else { $absent{orphans} = "prctl: $!" }
supervise(start());

# Starts the program in as many namespaces as can be had, and returns the number of its process.
sub start {
  my $isolated = $CLONE_NEWIPC | $CLONE_NEWUTS | ($network ? 0 : $CLONE_NEWNET);
  my $unprivileged = $uid == 0 ? 0 : $CLONE_NEWUSER;
  my @attempts = (
    $isolated | $CLONE_NEWNS | $CLONE_NEWPID | $unprivileged,
    # Where the machine hides parts of /proc, as containers do, another may not be mounted.
    $isolated | $CLONE_NEWNS | $unprivileged,
    $isolated | $unprivileged,
  );
  my %refused;
  for my $flags (@attempts) {
    pipe my $reader, my $writer or die "launch.pl: pipe: $!\n";
    my $pid = call('clone', $flags | $SIGCHLD, 0, 0, 0, 0);
    if ($pid == 0) {
      close $reader;
      my $error = enter($flags);
      if (defined $error) {
        syswrite $writer, $error;
        exit(1);
      }
      close $writer;
      # In a namespace of their own, processes that lose their parent become children of its first one.
      run_program() unless $flags & $CLONE_NEWPID;
      my $program = fork // die "launch.pl: fork: $!\n";
      run_program() if $program == 0;
      supervise($program);
    }
    my $error = $pid < 0 ? "clone: $!" : do { close $writer; local $/; <$reader> };
    return $pid if $pid > 0 && (!defined $error || $error eq '');
    waitpid $pid, 0 if $pid > 0;
    for my $barrier (barriers_of($flags)) { $absent{$barrier} = $error unless $refused{$barrier}++ }
  }
  my $pid = fork // die "launch.pl: fork: $!\n";
  run_program() if $pid == 0;
  return $pid;
}

sub barriers_of {
  my ($flags) = @_;
  return (
    $flags & $CLONE_NEWPID ? 'processes' : (),
    $flags & $CLONE_NEWNS ? 'mounts' : (),
    $flags & $CLONE_NEWNET ? 'network' : (),
    'ipc',
  );
}

# Sets up the namespaces this process is in; returns what failed.
sub enter {
  my ($flags) = @_;
  $SIG{TERM} = 'DEFAULT';
  prctl(1, $SIGKILL);
  if ($flags & $CLONE_NEWUSER) {
    for (['setgroups', 'deny'], ['uid_map', "$uid $uid 1"], ['gid_map', "$gid $gid 1"]) {
      my ($file, $text) = @$_;
      open my $handle, '>', "/proc/self/$file" or return "$file: $!";
      (syswrite $handle, $text) or return "$file: $!";
    }
  }
  if ($flags & $CLONE_NEWNS) {
    my $error = build_root($flags & $CLONE_NEWPID);
    return $error if defined $error;
  }
  $stands->(barriers_of($flags));
  return undef;
}

# Gives this process a file tree that holds the system, the code and the work folder, and nothing else.
sub build_root {
  my ($own_processes) = @_;
  my ($MS_NOSUID, $MS_NODEV, $MS_NOEXEC, $MS_BIND, $MS_REC, $MS_PRIVATE) = (2, 4, 8, 0x1000, 0x4000, 0x40000);
  my $mount = sub { my ($source, $target, $type, $flags, $data) = @_; call('mount', $source, $target, $type, $flags, $data) == 0 };
  my $root = $view;
  # In a changed root directory, / is no mount, and what it lies on cannot be named; nothing may spread from there.
  my $is_mount = $mount->('none', '/', 'none', $MS_REC | $MS_PRIVATE, 0);
  return "mount: $!" unless $is_mount || $! == $EINVAL && !shares_mounts();
  $mount->('tmpfs', $root, 'tmpfs', $MS_NOSUID | $MS_NODEV, 'size=64m,mode=755') or return "mount of tmpfs: $!";
  umask 022;
  my $bind = sub {
    my ($source, $writable, $target, $flags) = (@_, $MS_REC);
    make_target("$root$target", -d $source);
    $mount->($source, "$root$target", 'none', $MS_BIND | $flags, 0) or return "mount of $source: $!";
    # Read-only, no set-user-id programs, and no devices but those named.
    my $attributes = ($writable ? 0 : 1) | 2 | ($target =~ m{^/dev/} ? 0 : 4);
    return undef if call('mount_setattr', -100, "$root$target", 0x8000, pack('Q4', $attributes, 0, 0, 0), 32) == 0;
    # Before Linux 5.12, for the mount itself and not for those within it.
    my $MS_REMOUNT = 32;
    $mount->('none', "$root$target", 'none', $MS_BIND | $MS_REMOUNT | $attributes, 0) or return "remount of $source: $!";
    return undef;
  };
  make_target("$root$_", 1) for '/tmp', '/proc', '/dev/shm';
  chmod 01777, "$root/dev/shm";
  # What programs write to /tmp whatever they are told lies in a folder of ours, which is emptied. First, for others may lie in it.
  my $error = $bind->(source_of($tmp), 1, '/tmp', 0);
  return $error if defined $error;
  for my $path (outermost(@system, @read)) {
    # Links such as /bin stay links.
    if (-l $path && $path =~ m{^/[^/]+$}) { symlink readlink $path, "$root$path"; next }
    next unless -e $path;
    my $error = $bind->($path, 0, $path);
    return $error if defined $error;
  }
  for my $device (grep { -e } @devices) {
    my $error = $bind->($device, 1, $device);
    return $error if defined $error;
  }
  symlink "/proc/self/fd$_->[0]", "$root/dev/$_->[1]" for ['', 'fd'], ['/0', 'stdin'], ['/1', 'stdout'], ['/2', 'stderr'];
  for my $folder (@write) {
    my $error = $bind->(source_of($folder), 1, $folder->[0], 0);
    return $error if defined $error;
  }
  if ($own_processes) {
    $mount->('proc', "$root/proc", 'proc', $MS_NOSUID | $MS_NODEV | $MS_NOEXEC, 0) or return "mount of /proc: $!";
  } else {
    $mount->('/proc', "$root/proc", 'none', $MS_BIND | $MS_REC, 0) or return "mount of /proc: $!";
  }
  chdir $root or return "chdir: $!";
  if ($is_mount) {
    call('pivot_root', '.', '.') == 0 or return "pivot_root: $!";
    call('umount2', '.', 2) == 0 or return "umount: $!";
  } else {
    # As good: leaving it takes a privilege that is given up, and a call that is forbidden.
    chroot '.' or return "chroot: $!";
  }
  chdir '/';
  return undef;
}

# Opens a folder that may be written to and returns a path of the descriptor. If another is in its place, nothing is started.
sub source_of {
  my ($path, $device, $inode) = @{$_[0]};
  my ($O_PATH, $O_CLOEXEC, $O_DIRECTORY, $O_NOFOLLOW) = (0x200000, 0x80000, (0x10000, 0x4000)[$column], (0x20000, 0x8000)[$column]);
  my $descriptor = call('openat', -100, $path, $O_PATH | $O_CLOEXEC | $O_DIRECTORY | $O_NOFOLLOW, 0);
  my @found = $descriptor < 0 ? () : stat "/proc/self/fd/$descriptor";
  return "/proc/self/fd/$descriptor" if @found && "$found[0]:$found[1]" eq "$device:$inode";
  print STDERR "launch.pl: $path is not the folder that was made\n";
  exit(126);
}

sub close_inherited {
  return if call('close_range', 3, 0xFFFFFFFF, 0) == 0;
  # Before Linux 5.9.
  opendir my $list, '/proc/self/fd' or die "launch.pl: /proc/self/fd: $!\n";
  call('close', $_ + 0) for grep { /^\d+$/ && $_ > 2 && $_ != fileno $list } readdir $list;
}

# Returns whether mounts made here would appear in other namespaces.
sub shares_mounts {
  open my $list, '<', '/proc/self/mountinfo' or return 1;
  return scalar grep { / shared:/ } <$list>;
}

# Leaves out paths that lie within others.
sub outermost {
  my %kept;
  for my $path (sort { length $a <=> length $b } @_) {
    next if grep { $path eq $_ || index($path, "$_/") == 0 } keys %kept;
    $kept{$path} = 1;
  }
  return sort keys %kept;
}

sub make_target {
  my ($path, $is_folder) = @_;
  my @parts = split m{/}, $path;
  my $last = pop @parts;
  my $folder = '';
  for my $part (@parts) { $folder .= "$part/"; mkdir $folder, 0755 }
  if ($is_folder) { mkdir "$folder$last", 0755 }
  else { open my $file, '>>', "$folder$last" or return; close $file }
}

# Applies to this process what it and all its descendants are to be bound by, and becomes the program.
sub run_program {
  $SIG{TERM} = 'DEFAULT';
  become_user();
  set_limits();
  restrict_privileges();
  restrict_files();
  restrict_calls();
  # Changing the user takes back the request to die with the parent.
  prctl(1, $SIGKILL);
  chdir $tmp->[0];
  report();
  exec { $command[0] } @command or do { print STDERR "launch.pl: $command[0]: $!\n"; exit(127) };
}

sub become_user {
  my $reason = change_user();
  return $stands->('user') unless defined $reason;
  $absent{user} = $reason;
  # Without capabilities, root may not use what belongs to another.
  chown 0, 0, map { source_of($_) } @write if $uid == 0;
}

# Returns why the user could not be changed.
sub change_user {
  return 'the parent is not root' if $uid != 0;
  return 'no free user was found' unless defined $user;
  # Tried first: a checkout in a private home folder is readable for its owner alone.
  $) = "$user $user";
  $> = $user;
  my ($program, @arguments) = @command;
  my @hidden = $> == $user ? ((grep { m{^/} && !-r } @arguments), grep { !-x } $program, map { $_->[0] } @write) : ();
  my $changed = $> == $user;
  $> = 0;
  $) = '0 0';
  return 'the user could not be changed' unless $changed;
  return "$hidden[0] is readable for its owner only" if @hidden;
  call('setgroups', 0, 0) == 0 or return "setgroups: $!";
  call('setresgid', $user + 0, $user + 0, $user + 0) == 0 or return "setresgid: $!";
  call('setresuid', $user + 0, $user + 0, $user + 0) == 0 or return "setresuid: $!";
  return undef;
}

sub set_limits {
  my ($CPU, $FSIZE, $CORE, $NPROC) = (0, 1, 4, 6);
  # Six hours of processor time and 10 GiB for a file: more than any task of a function can use.
  my @limits = ([$CORE, 0], [$FSIZE, 10 * 1024**3], [$CPU, 6 * 3600]);
  # The kernel counts the processes of a user, so a user that has others would be limited by those.
  push @limits, [$NPROC, 4096] if !exists $absent{user} || !exists $absent{processes};
  for my $limit (@limits) {
    my ($resource, $value) = @$limit;
    my $previous = "\0" x 16;
    (syscall $numbers{prlimit64}[$column], 0, $resource, 0, $previous) == 0 or return $absent{limits} = "prlimit: $!";
    my $highest = (unpack 'Q2', $previous)[1];
    $value = $highest if $value > $highest;
    call('prlimit64', 0, $resource, pack('Q2', $value, $value), 0) == 0 or return $absent{limits} = "prlimit: $!";
  }
  $stands->('limits');
}

sub restrict_privileges {
  prctl(38, 1) or return $absent{privileges} = "prctl: $!";
  # Without capabilities here, and none to be had by executing a program, root is a user like any other.
  call('capset', pack('L2', 0x20080522, 0), pack('L6', (0) x 6)) == 0 or return $absent{privileges} = "capset: $!";
  $stands->('privileges');
}

sub restrict_files {
  my ($EXECUTE, $WRITE, $READ, $LIST, $REMOVE, $SOCKET, $TRUNCATE, $DEVICE) = (1, 2, 4, 8, 32, 512, 16384, 32768);
  my $version = call('landlock_create_ruleset', 0, 0, 1);
  return $absent{files} = "Landlock: $!" if $version < 1;
  my $rights = (0, 0x1FFF, 0x3FFF, 0x7FFF, 0x7FFF, 0xFFFF)[$version > 5 ? 5 : $version];
  # From version 4 TCP, and from version 6 abstract sockets of and signals to processes outside.
  my @attributes = ($rights, ($version >= 4 ? ($network ? 0 : 3) : ()), ($version >= 6 ? 3 : ()));
  my $attributes = pack 'Q*', @attributes;
  my $ruleset = call('landlock_create_ruleset', $attributes, length $attributes, 0);
  return $absent{files} = "Landlock: $!" if $ruleset < 0;
  my $shared = exists $absent{mounts};
  my @allowed = (
    (map { [$_, $EXECUTE | $READ | $LIST] } @system, @read, '/proc'),
    (map { [$_, $READ | $WRITE | $TRUNCATE | $DEVICE] } @devices),
    (map { [source_of($_), $rights] } @write),
    # LibreOffice keeps the sockets of its pipes in /tmp, which is fixed in its code.
    ['/tmp', $shared ? $SOCKET | $REMOVE : $rights],
    ($shared ? () : ['/dev/shm', $rights]),
  );
  for (@allowed) {
    my ($path, $access) = @$_;
    next unless -e $path;
    $access &= $EXECUTE | $READ | $WRITE | $TRUNCATE | $DEVICE unless -d _;
    my $O_PATH = 0x200000;
    my $descriptor = call('openat', -100, $path, $O_PATH | 0x80000, 0);
    next if $descriptor < 0;
    my $added = call('landlock_add_rule', $ruleset, 1, pack('Ql', $access & $rights, $descriptor), 0);
    my $error = "Landlock: $path: $!";
    call('close', $descriptor);
    return $absent{files} = $error if $added != 0;
  }
  call('landlock_restrict_self', $ruleset, 0) == 0 or return $absent{files} = "Landlock: $!";
  call('close', $ruleset);
  $stands->('files');
}

# Forbids calls that look into other processes, change the machine, or widen what the kernel exposes.
sub restrict_calls {
  my ($LOAD, $EQUAL, $ABOVE, $ANY_BIT, $RETURN) = (0x20, 0x15, 0x35, 0x45, 0x06);
  my ($ALLOW, $KILL) = (0x7fff0000, 0x80000000);
  my $refuse = sub { 0x00050000 | $_[0] };
  my $step = sub { pack 'SCCL', @_ };
  my @forbidden = qw(acct add_key bpf chroot delete_module fanotify_init finit_module fsconfig fsmount fsopen fspick
    init_module io_uring_enter io_uring_register io_uring_setup kcmp kexec_file_load kexec_load keyctl mount mount_setattr
    move_mount open_by_handle_at open_tree perf_event_open pidfd_getfd pivot_root process_madvise process_vm_readv
    process_vm_writev ptrace quotactl quotactl_fd reboot request_key setns swapoff swapon syslog umount2 unshare
    userfaultfd);
  # Offsets in the data of a call: number 0, architecture 4, arguments from 16 in steps of 8.
  my @filter = (
    $step->($LOAD, 0, 0, 4),
    $step->($EQUAL, 1, 0, (0xC000003E, 0xC00000B7)[$column]),
    $step->($RETURN, 0, 0, $KILL),
    $step->($LOAD, 0, 0, 0),
    # The second table of calls of x86_64.
    $step->($ABOVE, 0, 1, 0x40000000),
    $step->($RETURN, 0, 0, $refuse->($ENOSYS)),
  );
  push @filter, $step->($EQUAL, 0, 1, $numbers{$_}[$column]), $step->($RETURN, 0, 0, $refuse->($EPERM)) for @forbidden;
  # Its flags are in memory, where a filter cannot look; the C library goes back to clone.
  push @filter, $step->($EQUAL, 0, 1, $numbers{clone3}[$column]), $step->($RETURN, 0, 0, $refuse->($ENOSYS));
  push @filter,
    $step->($EQUAL, 0, 4, $numbers{clone}[$column]),
    $step->($LOAD, 0, 0, 16),
    $step->($ANY_BIT, 0, 1, $CLONE_ANY_NAMESPACE),
    $step->($RETURN, 0, 0, $refuse->($EPERM)),
    $step->($RETURN, 0, 0, $ALLOW);
  # TIOCSTI types into the terminal.
  push @filter,
    $step->($EQUAL, 0, 4, $numbers{ioctl}[$column]),
    $step->($LOAD, 0, 0, 24),
    $step->($EQUAL, 0, 1, 0x5412),
    $step->($RETURN, 0, 0, $refuse->($EPERM)),
    $step->($RETURN, 0, 0, $ALLOW);
  my ($UNIX, $INET, $INET6, $NETLINK) = (1, 2, 10, 16);
  my @families = ($UNIX, $network ? ($INET, $INET6, $NETLINK) : ());
  push @filter,
    $step->($EQUAL, 0, 2 + 2 * @families, $numbers{socket}[$column]),
    $step->($LOAD, 0, 0, 16),
    (map { ($step->($EQUAL, 0, 1, $_), $step->($RETURN, 0, 0, $ALLOW)) } @families),
    $step->($RETURN, 0, 0, $refuse->($EAFNOSUPPORT));
  push @filter, $step->($RETURN, 0, 0, $ALLOW);
  my $filter = join '', @filter;
  my $program = pack 'S x6 P', scalar @filter, $filter;
  # Kernels before 5.16 would also slow down all code behind a filter, against attacks by branch prediction within a process.
  my $SPEC_ALLOW = 4;
  call('seccomp', 1, $SPEC_ALLOW, $program) == 0 or call('seccomp', 1, 0, $program) == 0
    or return $absent{calls} = "seccomp: $!";
  $stands->('calls');
}

# Collects whatever ends until the program has, ends what it left behind, and ends as it did.
sub supervise {
  my ($program) = @_;
  my $status;
  until (defined $status) {
    my $ended = waitpid -1, 0;
    $status = $? if $ended == $program;
    die "launch.pl: waitpid: $!\n" if $ended < 0 && $! != $EINTR;
  }
  end_children();
  my ($code, $signal) = ($status >> 8, $status & 127);
  # The first process of a namespace cannot end by a signal of its own, so it says so as shells do.
  ($code, $signal) = (0, $code - 128) if $$ != 1 && $signal == 0 && $code > 128 && $code <= 128 + 64;
  kill $signal, $$ if $signal && $$ != 1;
  exit($signal ? 128 + $signal : $code);
}

# Kills the children of this process, and theirs, which become its own.
sub end_children {
  while (1) {
    open my $list, '<', "/proc/$$/task/$$/children" or return;
    my @children = split ' ', <$list> // '';
    return unless @children;
    kill $SIGKILL, @children;
    waitpid $_, 0 for @children;
  }
}

# Says on the standard output which barriers do not stand. It is the first that is written there, so it is believed.
sub report {
  my $text = join ',', map { my $reason = $absent{$_}; $reason =~ s/[^\x20\x21\x23-\x5b\x5d-\x7e]/?/g; qq("$_":"$reason") } sort keys %absent;
  my $line = "{$text}\n";
  (syswrite STDOUT, $line) == length $line or die "launch.pl: $!\n";
}
