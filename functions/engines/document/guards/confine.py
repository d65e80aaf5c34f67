"""
Runs a program that may reach no files but the system's and those of one folder, and no TCP, where the kernel can do so.

usage: confine.py <folder> <program> [arguments]
       confine.py            ends with 0 where the kernel can, with 1 where it cannot

Settings of converters are not isolation: some importers load pictures by path whatever they say. Landlock needs no
privilege, and where the kernel lacks it the program runs as it is, with nothing worth reading nearby.
"""

import ctypes
import os
import struct
import sys

# Rights of the kernel's Landlock; see linux/landlock.h.
EXECUTE, WRITE, READ, LIST, REMOVE_FILE, MAKE_SOCKET, TRUNCATE = 1, 2, 4, 8, 32, 512, 16384
RIGHTS_BY_VERSION = {1: 0x1FFF, 2: 0x3FFF, 3: 0x7FFF}
CREATE_RULESET, ADD_RULE, RESTRICT_SELF, NO_NEW_PRIVILEGES = 444, 445, 446, 38
# Of /etc only what programs and fonts need, such as the user's name: what else is there tells of the machine.
READABLE = ('/usr', '/lib', '/lib64', '/bin', '/opt/libreoffice', '/var/cache/fontconfig', '/var/lib/ghostscript',
            '/var/spool/libreoffice', '/etc/alternatives', '/etc/fonts', '/etc/ghostscript', '/etc/ld.so.cache',
            '/etc/libreoffice', '/etc/localtime', '/etc/locale.alias', '/etc/mime.types',
            '/etc/nsswitch.conf', '/etc/papersize', '/etc/passwd')

libc = ctypes.CDLL(None, use_errno=True)


def landlock_version():
    return libc.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), 1)


def confine(folder):
    """Takes the rights from this process and from all it will start."""
    version = landlock_version()
    if version < 1:
        return
    rights = RIGHTS_BY_VERSION[min(version, 3)]
    attributes = struct.pack('QQ', rights, 3 if version >= 4 else 0)[: 16 if version >= 4 else 8]
    ruleset = libc.syscall(CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0)
    if ruleset < 0:
        return
    allowed = [(path, EXECUTE | READ | LIST) for path in READABLE]
    # LibreOffice keeps the sockets of its pipes in /tmp, which is fixed in its code.
    allowed += [(folder, rights), ('/dev', READ | WRITE | LIST), ('/tmp', MAKE_SOCKET | REMOVE_FILE)]
    for path, access in allowed:
        if not os.path.exists(path):
            continue
        if not os.path.isdir(path):
            access &= EXECUTE | READ | WRITE | TRUNCATE
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        libc.syscall(ADD_RULE, ruleset, 1, struct.pack('=Qi', access & rights, descriptor), 0)
        os.close(descriptor)
    libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    if libc.syscall(RESTRICT_SELF, ruleset, 0) != 0:
        raise SystemExit('the kernel knows Landlock but refused the rules')
    os.close(ruleset)


if __name__ == '__main__':
    if len(sys.argv) == 1:
        sys.exit(0 if landlock_version() >= 1 else 1)
    confine(sys.argv[1])
    os.execvp(sys.argv[2], sys.argv[2:])
