"""
The paths by which Linux tells about itself: which of them are constant.

By itself, because the supervisor loads the other modules for Linux and must not load the model.
"""

import re

from pytest_hookharness.model.reads import KernelPaths

LINUX_PATHS = KernelPaths(
    constant=re.compile(
        r"/proc(/self(/(fd(/.*)?|exe|cwd|root|maps|mounts|mountinfo|cgroup|cmdline|environ|ns/.*|task|attr/.*))?)?"
        r"|/proc/(filesystems|mounts|cpuinfo|version|cmdline|sys/(kernel|vm|net)/(?!random|ns_last_pid).*)"
        r"|/sys/(devices/system/(cpu|node)/(?!.*(meminfo|stat$)).*|fs/cgroup/.*\.max|kernel/mm/transparent_hugepage/.*)"
        r"|/dev/(null|zero|full|stdin|stdout|stderr|fd(/.*)?)|pipe:.*|socket:.*|anon_inode:.*"
    ),
    folders=("/proc/", "/sys/"),
    # There programs ask whether the system has security labels.
    without_space=("/proc/", "/sys/", "/selinux"),
    streams=("/proc/self/fd/0", "/proc/self/fd/1", "/proc/self/fd/2"),
)
