#!/bin/sh
# Runs a command with a folder as its root, as Lambda runs an image: read-only but for an empty /tmp, without /dev/shm,
# as a user without rights. To be started in mount and PID namespaces of its own.
# usage: run-in-root.sh <root> <folder for /data, or nothing> <user:group> <working directory> <command> …
set -eu
root=$1 data=$2 user=$3 folder=$4
shift 4
mount --make-rprivate /
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
for device in null zero full random urandom; do
  touch "$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
ln -s /proc/self/fd "$root/dev/fd"
mount -t tmpfs -o mode=1777,nosuid tmpfs "$root/tmp"
if [ -n "$data" ]; then
  mount --bind "$data" "$root/data"
  # Docker gives a container the name localhost; Lambda's functions need none.
  touch "$root/etc/hosts"
  mount --bind /etc/hosts "$root/etc/hosts"
fi
mount -o remount,bind,ro "$root"
mount -o remount,ro "$root/dev"
# Not in place of this shell, which ends with its parent: whoever changes its user does not, and with the first process of
# the namespace all others end.
chroot --userspec="$user" --groups= "$root" /bin/sh -c 'cd "$1" && shift && exec "$@"' sh "$folder" "$@"
exit $?
