package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// process is what /proc says of one.
type process struct {
	pid, parent, session int
	zombie, marked       bool
}

// tree returns the processes of a command that live: its descendants, those in a session of
// theirs, and those that carry its mark. A process that left its session, lost its parent and
// cleared its environment is not found; it ends with the sandbox.
func tree(st step) map[int]bool {
	all := processes(fmt.Sprintf("%s=%d", stepMark, st.id))
	in, sessions := map[int]bool{}, map[int]bool{}
	if !st.ended {
		sessions[st.pid] = true
	}
	for grown := true; grown; {
		grown = false
		for _, p := range all {
			if in[p.pid] || !(p.marked || in[p.parent] || sessions[p.session]) {
				continue
			}
			in[p.pid], sessions[p.session] = true, true
			grown = true
		}
	}
	for _, p := range all {
		if p.zombie {
			delete(in, p.pid)
		}
	}
	return in
}

// killTree kills the processes of a command. They are stopped first, so that none can start
// another while they are killed one by one.
func killTree(st step) {
	const rounds = 100 // each finds what was started during the one before
	for range rounds {
		stopped := 0
		for {
			now := tree(st)
			if len(now) <= stopped {
				break
			}
			stopped = len(now)
			for pid := range now {
				_ = unix.Kill(pid, unix.SIGSTOP)
			}
		}
		if stopped == 0 {
			return
		}
		for pid := range tree(st) {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
	}
}

// processes reads all processes of the namespace but this one.
func processes(mark string) []process {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var out []process
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == 1 {
			continue
		}
		stat, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue // it has ended
		}
		// The name in brackets may contain anything, so the rest is read from its end.
		at := bytes.LastIndexByte(stat, ')')
		fields := strings.Fields(string(stat[at+1:]))
		if len(fields) < 4 {
			continue
		}
		p := process{pid: pid, zombie: fields[0] == "Z" || fields[0] == "X"}
		p.parent, _ = strconv.Atoi(fields[1])
		p.session, _ = strconv.Atoi(fields[3])
		env, _ := os.ReadFile("/proc/" + e.Name() + "/environ")
		p.marked = bytes.Contains(append([]byte{0}, env...), append([]byte("\x00"+mark), 0))
		out = append(out, p)
	}
	return out
}
