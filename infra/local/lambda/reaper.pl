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

my $passes = 200;
my ($root) = @ARGV;
$| = 1;
$SIG{$_} = 'IGNORE' for qw(INT TERM HUP PIPE);

while (my $line = <STDIN>) {
    chomp $line;
    my ($leader, $folder) = split / /, $line, 2;
    end_processes($folder, $leader);
    print "$leader\n";
}
end_processes($root, 0);
exec 'rm', '-rf', '--', $root;

# Kills until there is nothing left, because what is to be killed may have started more meanwhile.
sub end_processes {
    my ($folder, $leader) = @_;
    for (1 .. $passes) {
        my @members = members($folder, $leader) or return;
        kill 'KILL', @members;
        select undef, undef, undef, 0.005;
    }
}

# Those of the leader's session or group, those that name the folder in their environment or run in it, and
# whatever any of them started.
sub members {
    my ($folder, $leader) = @_;
    my %table = -r '/proc/self/stat' ? table_of_proc() : table_of_ps();
    my %member;
    for my $pid (keys %table) {
        my (undef, $group, $session) = @{ $table{$pid} };
        $member{$pid} = 1
            if ($leader && ($group == $leader || $session == $leader)) || is_within($pid, $folder);
    }
    for (my $size = -1; $size != keys %member;) {
        $size = keys %member;
        $member{$_} = 1 for grep { $member{ $table{$_}[0] } } keys %table;
    }
    delete $member{$$};
    return keys %member;
}

sub is_within {
    my ($pid, $folder) = @_;
    my $cwd = readlink "/proc/$pid/cwd";
    return 1 if defined $cwd && index("$cwd/", "$folder/") == 0;
    open my $file, '<', "/proc/$pid/environ" or return 0;
    local $/;
    my $environment = <$file>;
    return 0 unless defined $environment;
    return $environment =~ m{=\Q$folder\E(?:/|\0|\z)};
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
