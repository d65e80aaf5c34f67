# Ends the processes of execution environments: of one when a line names it, of all when standard input closes,
# which is when the host has ended, however it ended. It has a session of its own and nothing to wait for, so that
# it outlives the host by the moment this takes. Perl, because it is on every system, starts in milliseconds and
# takes little memory.
#
# Argument: the folder that holds the folders of all environments.
# A line of input: the process id of an environment's first process, a space, and its folder. The reply is that id,
# once the environment has no process left.
use strict;
use warnings;

# What the host left open for its children, its database among it, would stay open for as long as this process runs.
if (opendir my $own, '/proc/self/fd') {
    my @descriptors = grep { /^\d+$/ && $_ > 2 } readdir $own;
    closedir $own;
    for (@descriptors) { open my $inherited, '<&=', $_ }
}

my $passes = 200;
my ($root) = @ARGV;
$| = 1;
$SIG{$_} = 'IGNORE' for qw(INT TERM HUP PIPE);

# To look at every process of the machine takes longest, so that is done once for all environments that are to end by now.
my $input = '';
while (sysread STDIN, $input, 65_536, length $input) {
    my %ending;
    $ending{$1} = $2 while $input =~ s/^(\d+) (.*)\n//;
    end_processes(%ending);
    print "$_\n" for keys %ending;
}
end_processes(0 => $root);
exec 'rm', '-rf', '--', $root;

# Kills until there is nothing left, because what is to be killed may have started more meanwhile.
sub end_processes {
    my %ending = @_;
    for (1 .. $passes) {
        my @members = members(%ending) or return;
        kill 'KILL', @members;
        select undef, undef, undef, 0.005;
    }
}

# Of environments' folders by their leaders: those of a leader's session or group, those that name a folder in their
# environment or run in it, and whatever any of them started.
sub members {
    my %ending = @_ or return;
    my $folders = join '|', map { quotemeta } values %ending;
    my %table = -r '/proc/self/stat' ? table_of_proc() : table_of_ps();
    my %member;
    for my $pid (keys %table) {
        my (undef, $group, $session) = @{ $table{$pid} };
        # 0 is that of processes whose leader cannot be seen from here.
        $member{$pid} = 1
            if ($group && $ending{$group}) || ($session && $ending{$session}) || is_within($pid, $folders);
    }
    for (my $size = -1; $size != keys %member;) {
        $size = keys %member;
        $member{$_} = 1 for grep { $member{ $table{$_}[0] } } keys %table;
    }
    delete $member{$$};
    return keys %member;
}

sub is_within {
    my ($pid, $folders) = @_;
    my $cwd = readlink "/proc/$pid/cwd";
    return 1 if defined $cwd && "$cwd/" =~ m{^(?:$folders)/};
    open my $file, '<', "/proc/$pid/environ" or return 0;
    local $/;
    my $environment = <$file>;
    return 0 unless defined $environment;
    return $environment =~ m{=(?:$folders)(?:/|\0|\z)};
}

# Process ids with parent, group and session, without those that have ended and only wait to be collected.
sub table_of_proc {
    my %table;
    opendir my $proc, '/proc' or return;
    for my $pid (grep { /^\d+$/ } readdir $proc) {
        open my $file, '<', "/proc/$pid/stat" or next;
        my $stat = <$file>;
        # The name in brackets may itself hold spaces and brackets.
        next unless defined $stat && $stat =~ /^.*\) (\S) (\d+) (-?\d+) (-?\d+)/s;
        $table{$pid} = [$2, $3, $4] unless $1 eq 'Z' || $1 eq 'X';
    }
    return %table;
}

sub table_of_ps {
    my %table;
    for (`ps -A -o pid= -o ppid= -o pgid= -o stat=`) {
        my ($pid, $parent, $group, $state) = split;
        $table{$pid} = [$parent, $group, 0] unless $state =~ /^Z/;
    }
    return %table;
}
