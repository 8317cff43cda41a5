package danger

import (
	"strings"

	"github.com/recountdb/recount/internal/lazyregexp"
	"github.com/recountdb/recount/replay/shell"
)

// Calls that only say what they would do, or ask for something by a flag, whatever their words are.

// harmless reports whether a call of an unknown program only says what it would do, or talks to an emulator on this
// machine.
func harmless(c *call) bool {
	return c.Name == "" || c.onlySays() || streams[c.Program()] || packageManagers[c.Name] && c.Sub() == "clean" || tested[c.Name] && tests[c.Sub()] ||
		emulated[c.Name] || c.Name == "pnpm" && c.Sub() == "deploy" && moreThan(1)(c) || c.Name == "rails" && (c.Sub() == "destroy" || c.Sub() == "d") || c.Name == "wrangler" && c.Flag("--local") || flag("--plan --check --whatif --just-print --pretend --noop")(c) || len(c.Args) == 1 && c.Args[0].Value == "-h"
}

// onlySays reports whether a call asks any program only for its help, or for what it would do.
func (c *call) onlySays() bool {
	if c.Flag("--help", "-help", "--no-act", "--simulate", "--list-only", "--list-tasks", "--list-tags", "--list-hosts", "--syntax-check") || c.names(says.MatchString) || c.asksHelp() {
		return true
	}
	if flags, ok := dryFlags[c.Name]; ok && flags(c) || c.Flag("-n") && (c.makesExt() || c.Name == "gsutil" && c.Sub() == "rsync") || c.Name != "puppet" && c.Flag("--test") {
		return true
	}
	names := []string{c.Program()}
	if ws := shell.Operands(c.After(), ""); len(ws) > 0 {
		names = append(names, c.Program()+" "+ws[0].Value)
	}
	for _, name := range names {
		if needed, ok := earnest[name]; ok && !needed(c) {
			return true
		}
	}
	n := len(c.Args)
	return n == 1 && c.Args[0].Value == "--version" || n > 1 && c.Args[n-1].Value == "-h" && !trailingHelp[c.Name] && !c.Wraps && !textPrograms[c.Name]
}

// makesExt reports whether a call makes a file system of the kind ext, whose -n says that nothing shall be done: of
// others it is a name.
func (c *call) makesExt() bool {
	kind, typed := c.FlagValue("-t", "--type")
	return strings.HasPrefix(c.Name, "mkfs.ext") || c.Name == "mkfs" && (!typed || strings.HasPrefix(kind.Value, "ext"))
}

// says matches flags which say that nothing shall be done.
var says = lazyregexp.New(`^--?(dry([-_]?[a-zA-Z]+)?|pretend|preview(-only)?|fake|assume-?no|what-?if|WhatIf|no-?op|check-only|diff-(only|run)|why-run|no-execute-changeset|show-depends)(=(true|client|server|all))?$`)

// dryFlags are, by program, flags which say that nothing shall be done, where only this program means that by them.
var dryFlags = byProgram(
	"-n", "modprobe,act,rsync,rclone,zfs,zpool,mke2fs,e2fsck,fsck,xfs_repair,avrdude,restic,borg,unison,make,gmake,rake,just,ninja,flutter,dart",
	"-s", "apt,apt-get,aptitude,dput",
	"-t", "lvcreate,lvextend,lvreduce,lvremove,lvrename,lvresize,lvconvert,lvchange,vgcreate,vgextend,vgreduce,vgremove,vgchange,pvcreate,pvremove,pvmove",
	"-N", "fsck", "-m", "gradle,gradlew", "-T", "cap,rake", "-T -b", "sysupgrade", "--dump", "swaks", "-W", "chef-client,chef-solo", "--sql", "alembic",
	"-bt -bv -bV -bP -bp -bpc", "exim,exim4", "-l -ll --list", "sudo,doas", "/L /l", "robocopy",
)

// earnest are, by program and subcommand, flags without which nothing is done.
var earnest = byProgram(
	"-y", "p4 obliterate", "--confirm", "wal-g delete,oc adm prune", "--delete", "kopia snapshot delete",
	"-y --yes", "kops update,kops delete,kops rolling-update",
)

// byProgram makes conditions of pairs: words, and the programs for which one of them says something.
func byProgram(pairs ...string) map[string]func(*call) bool {
	m := map[string]func(*call) bool{}
	for i := 0; i < len(pairs); i += 2 {
		for name := range strings.SplitSeq(pairs[i+1], ",") {
			given := some(flag(pairs[i]), exactly(pairs[i]))
			if other := m[name]; other != nil {
				given = some(other, given)
			}
			m[name] = given
		}
	}
	return m
}

// tested are programs of which words after one of tests are names.
var (
	tested = words("cargo go dotnet swift zig")
	tests  = words("test t bench run check build clippy doc vet nextest")
	// emulated are clients that only talk to an emulator on this machine.
	emulated = words("awslocal tflocal cdklocal samlocal pulumilocal")
)

// asksHelp reports whether a call asks for help about what its words say.
func (c *call) asksHelp() bool {
	ws := shell.Operands(c.Args, "")
	return len(ws) > 0 && (ws[0].Value == "help" || ws[len(ws)-1].Value == "help" || strings.HasSuffix(ws[0].Value, ":help")) && !c.Wraps && !textPrograms[c.Name] && !files[c.Name]
}

// streams only write something to their standard output, for another program.
var streams = map[string]bool{"btrfs send": true, "zfs send": true, "op inject": true}

// trailingHelp are programs for which -h as the last word asks for no help.
var trailingHelp = words("ls du df free chown chgrp shutdown rsync postsuper sort tree who w chmod touch tar setfacl")
