package history

import (
	"slices"
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// otherNames has the fields of a command that other programs name with other words.
var otherNames = map[string]string{
	"cmd": "command", "cmdline": "command", "dir": "cwd", "directory": "cwd", "pwd": "cwd", "workingdirectory": "cwd", "hostname": "host",
	"status": "exit_code", "exitstatus": "exit_code", "returncode": "exit_code", "exit": "exit_code", "rc": "exit_code",
	"timestamp": "started_at", "time": "started_at", "ts": "started_at", "date": "started_at", "started": "started_at", "starttime": "started_at",
	"elapsed": "duration", "took": "duration", "output": "output_tail", "username": "user", "sessionid": "session", "intent": "stated_intent",
}

// units may end the name of a time.
var units = []string{"milliseconds", "microseconds", "nanoseconds", "seconds", "nanos", "millis", "secs", "sec", "ms", "us", "ns", "s"}

// fieldMeant returns the field of a command that an unknown name probably means, with the form of its
// value where it has one of its own; "" if none is like it.
func fieldMeant(name string) string {
	plain := func(s string) string {
		return strings.ToLower(strings.NewReplacer("_", "", "-", "", ".", "", " ", "").Replace(s))
	}
	asked := plain(name)
	tries := []string{asked}
	for _, unit := range units {
		if short, ok := strings.CutSuffix(asked, unit); ok {
			tries = append(tries, short)
		}
	}
	fields := (&recountv1.CommandExecuted{}).ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		own := string(f.Name())
		if !slices.ContainsFunc(tries, func(s string) bool { return plain(own) == s || otherNames[s] == own }) {
			continue
		}
		switch m := f.Message(); {
		case m != nil && m.FullName() == "google.protobuf.Duration":
			return own + `, as "1.5s"`
		case m != nil && m.FullName() == "google.protobuf.Timestamp":
			return own + `, as "2026-01-02T03:04:05Z"`
		}
		return own
	}
	return ""
}
