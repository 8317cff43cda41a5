// Package browser opens an address in the browser of the person at this machine.
package browser

import (
	"os/exec"
	"runtime"
	"strings"
	"syscall"
)

// Open starts a browser and reports whether there was one to start: $BROWSER, a list of commands as
// xdg-open takes it, else the desktop's.
func Open(getenv func(string) string, url string) bool {
	for _, command := range commands(getenv, runtime.GOOS) {
		if start(command, url) {
			return true
		}
	}
	return false
}

// commands returns the commands that may open an address, the preferred one first.
func commands(getenv func(string) string, system string) []string {
	var all []string
	for command := range strings.SplitSeq(getenv("BROWSER"), ":") {
		if strings.TrimSpace(command) != "" {
			all = append(all, command)
		}
	}
	switch {
	case system == "darwin":
		all = append(all, "open")
	case getenv("DISPLAY")+getenv("WAYLAND_DISPLAY") != "":
		all = append(all, "xdg-open")
	case getenv("WSL_DISTRO_NAME") != "":
		all = append(all, "wslview")
	}
	return all
}

// start runs a command with the address in place of %s, or as its last argument, in a session of its
// own: it must not end with this process.
func start(command, url string) bool {
	words := strings.Fields(command)
	named := false
	for i, w := range words {
		if strings.Contains(w, "%s") {
			words[i], named = strings.ReplaceAll(w, "%s", url), true
		}
	}
	if !named {
		words = append(words, url)
	}
	cmd := exec.Command(words[0], words[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd.Start() == nil && cmd.Process.Release() == nil
}
