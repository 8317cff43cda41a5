package git

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// hardened returns the settings that override the configuration of the repository and its user, so
// that reading runs none of their commands.
func hardened() []string {
	return []string{
		"--no-pager", "--no-optional-locks", "--no-replace-objects", "--literal-pathspecs",
		"-c", "core.fsmonitor=false",
		"-c", "core.hooksPath=" + os.DevNull,
		"-c", "core.alternateRefsCommand=false",
		"-c", "credential.helper=",
		"-c", "protocol.allow=never",
		"-c", "diff.external=",
		"-c", "log.showSignature=false",
		"-c", "core.quotePath=true",
		"-c", "advice.graftFileDeprecated=false", // suppresses advice about GIT_GRAFT_FILE, which is set below
		"-c", "gc.auto=0",
		"-c", "maintenance.auto=false",
	}
}

// environment returns the process's environment without git's variables: what a hook's caller set
// (GIT_DIR, GIT_INDEX_FILE) or a shell exported must not select another repository.
func environment() []string {
	var env []string
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(name, "GIT_") || name == "LC_ALL" || name == "LANGUAGE" || name == "SSH_ASKPASS" {
			continue
		}
		env = append(env, kv)
	}
	return append(env,
		"LC_ALL=C", // messages are parsed
		"GIT_TERMINAL_PROMPT=0",
		"GIT_OPTIONAL_LOCKS=0",
		"GIT_NO_LAZY_FETCH=1",
		"GIT_ALLOW_PROTOCOL=none",
		"GIT_GRAFT_FILE="+os.DevNull,
		"GIT_ADVICE=0",
		"GIT_PAGER=cat",
	)
}

// ownProcessGroup gives a process a process group of its own: ctrl-c at a terminal then reaches only the
// caller, which ends git when its own work is at a consistent point.
func ownProcessGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
