// Package sandbox runs commands so that they can't harm the machine: each sees its working directory
// as a copy-on-write view, and nothing else of the machine can be written.
//
// Open starts one process, the init of a run, in namespaces of its own (user, mount, PID, IPC, UTS,
// cgroup and, unless Options.Network is set, network). Run has it start a command. What a command may rely on:
//
//   - Its working directory Options.Dir looks as on the host. Writes go to a layer in Options.State
//     (overlayfs), or into a copy of the directory where the kernel has no overlayfs for users.
//     Commands of one sandbox see each other's writes, and so do those of a later one that is
//     opened with the same State.
//   - The rest of the file system can be read and not written. /tmp, /var/tmp, /run, /dev/shm and
//     /dev are private. Sockets of the host can't be reached by a path; only where the kernel can't
//     show a directory through overlayfs, those that are made after Open can.
//   - Of the home directory only tools and their caches are visible (VisibleHome), each as a
//     copy-on-write view; ~/.ssh, ~/.aws, ~/.netrc, tokens and everything else that is not listed
//     do not exist, and neither do other users' homes, but for tools there that PATH names, nor
//     Options.Hide. Of ~/.gitconfig the name, the mail address and the default branch are visible.
//   - There is no network but a loopback of its own, unless Options.Network is set: then it is the
//     host's network, with all that listens there.
//   - It has no capabilities and can gain none, can't make namespaces, mount, or use the system calls of
//     seccomp's list; landlock limits writes once more where the kernel has it. Of processes of the sandbox
//     it may stop others and read their registers, as LeakSanitizer has to, and trace them no further.
//   - Limits bound processes, open files, a file's size, all that is written, and output.
//
// Processes that a command leaves behind go on until Close, which ends every process of the
// sandbox. Changes tells what the commands changed in Options.Dir, Apply does the same to the real
// directory, and Discard forgets it.
//
// With the isolation docker or podman, a container takes the place of the init, over a copy.
// With IsolationNone nothing of this is so: commands run as the caller's own.
//
// The init process is a program whose main (or TestMain) calls Init first: recount-record, or a
// test's own binary. Only Linux has it; elsewhere Open fails unless a container or IsolationNone is asked
// for by name.
package sandbox
