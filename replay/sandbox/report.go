package sandbox

import (
	"fmt"
	"strings"
)

// Report says what the kernel gives for isolation.
type Report struct {
	OS         string `json:"os"`
	Kernel     string `json:"kernel,omitempty"`
	Namespaces bool   `json:"namespaces"` // user, mount, PID, IPC, UTS and cgroup namespaces
	NetworkNS  bool   `json:"network_namespace"`
	Overlay    bool   `json:"overlay"` // overlayfs inside a user namespace
	Proc       bool   `json:"proc"`    // a /proc of its own
	Landlock   int    `json:"landlock_abi"`
	Seccomp    bool   `json:"seccomp"`
	// Processes says what bounds the number of processes: pid_max, rlimit, or nothing.
	Processes string `json:"process_limit,omitempty"`
	// Cgroups is 1 or 2, or 0 if there are none. The sandbox uses none; a service manager may.
	Cgroups int `json:"cgroups"`
	// Why says for what is missing why it is.
	Why map[string]string `json:"why,omitempty"`
}

// Missing lists what a sandbox needs and the kernel does not give. If it is not empty, Open fails.
func (r Report) Missing() []string {
	var out []string
	need := func(ok bool, name string) {
		if ok {
			return
		}
		if why := r.Why[name]; why != "" {
			name += " (" + why + ")"
		}
		out = append(out, name)
	}
	if r.OS != "linux" {
		return []string{"isolation (" + r.OS + " has none that Recount uses)"}
	}
	need(r.Namespaces, "user namespaces")
	if !r.Namespaces {
		return out
	}
	need(r.NetworkNS, "network namespace")
	need(r.Proc, "a /proc of its own")
	need(r.Seccomp, "seccomp")
	need(r.Processes != "", "a limit of processes")
	return out
}

// Weaker lists what the sandbox does without, each as a sentence.
func (r Report) Weaker() []string {
	var out []string
	if !r.Overlay {
		why := ""
		if w := r.Why["overlay"]; w != "" {
			why = " (" + w + ")"
		}
		out = append(out, "no overlayfs for users"+why+": the working directory is copied first")
	}
	if r.Landlock == 0 {
		out = append(out, "no landlock: writes are limited by mounts alone")
	} else if r.Landlock < 6 {
		out = append(out, fmt.Sprintf("landlock %d does not limit signals and abstract sockets: namespaces alone do", r.Landlock))
	}
	return out
}

// String is one line for people.
func (r Report) String() string {
	if missing := r.Missing(); len(missing) > 0 {
		return "no sandbox: missing " + strings.Join(missing, ", ")
	}
	parts := []string{"sandbox: namespaces", "seccomp"}
	if r.Landlock > 0 {
		parts = append(parts, fmt.Sprintf("landlock %d", r.Landlock))
	}
	if r.Overlay {
		parts = append(parts, "overlayfs")
	}
	parts = append(parts, "processes limited by "+r.Processes)
	if weaker := r.Weaker(); len(weaker) > 0 {
		parts = append(parts, strings.Join(weaker, "; "))
	}
	return strings.Join(parts, ", ")
}
