package git

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// hardened are the settings that win over what a repository or its user
// configured, so that reading runs nothing of theirs.
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
		"-c", "advice.graftFileDeprecated=false", // GIT_GRAFT_FILE below is why it would advise
		"-c", "gc.auto=0",
		"-c", "maintenance.auto=false",
	}
}

// environment is the process's without git's variables: what a hook's caller set
// (GIT_DIR, GIT_INDEX_FILE) or a shell exported must not lead elsewhere.
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
		"LC_ALL=C", // messages are read
		"GIT_TERMINAL_PROMPT=0",
		"GIT_OPTIONAL_LOCKS=0",
		"GIT_NO_LAZY_FETCH=1",
		"GIT_ALLOW_PROTOCOL=none",
		"GIT_GRAFT_FILE="+os.DevNull,
		"GIT_ADVICE=0",
		"GIT_PAGER=cat",
	)
}

// apart gives a process a group of its own: ctrl-c at a terminal reaches the
// caller alone, who ends git when its own work is at a good place.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
