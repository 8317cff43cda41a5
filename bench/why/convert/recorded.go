package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// recorded reads `recount log tail --topic commands --all --json` and unites each
// command with its outcome. Lines recorded as `bash -c LINE`, which is how
// `recount exec` runs one, become LINE, as a shell's hook would have told it.
// User, host and ids are dropped, and what names this machine is replaced.
func recorded(r io.Reader, name string) ([]*recountv1.CommandExecuted, error) {
	var out []*recountv1.CommandExecuted
	byID := map[string]*recountv1.CommandExecuted{}
	appended := map[*recountv1.CommandExecuted]time.Time{}
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, 16<<20)
	for n := 1; sc.Scan(); n++ {
		var e struct {
			ID, Type string
			Appended time.Time
			Payload  json.RawMessage
		}
		if err := json.Unmarshal(sc.Bytes(), &e); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		switch e.Type {
		case "command.executed":
			c := &recountv1.CommandExecuted{}
			if err := protojson.Unmarshal(e.Payload, c); err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
			if c.Session != name {
				continue
			}
			c.Command = plain(unwrap(c.Command))
			c.User, c.Host, c.GitHead, c.Env = "", "", "", nil
			c.StatedIntent = head(c.StatedIntent)
			byID[e.ID], appended[c] = c, e.Appended
			out = append(out, c)
		case "outcome.observed":
			o := &recountv1.OutcomeObserved{}
			if err := protojson.Unmarshal(e.Payload, o); err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
			if c := byID[o.CommandEventId]; c != nil {
				c.ExitCode, c.Duration, c.OutputTail = o.ExitCode, o.Duration, tail(o.OutputTail)
			}
		}
	}
	if err := sc.Err(); err != nil {
		return nil, err
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no command of session %q", name)
	}
	// The log keeps order within a partition only.
	slices.SortStableFunc(out, func(a, b *recountv1.CommandExecuted) int { return appended[a].Compare(appended[b]) })
	var before time.Time
	for i, c := range out {
		// An edit was recorded when it was done, with a duration of the recorder's
		// guessing: it cannot have begun before the last command ended.
		if c.StartedAt.AsTime().Before(before) {
			c.StartedAt, c.Duration = timestamppb.New(before), durationpb.New(max(0, appended[c].Sub(before)))
		}
		before = c.StartedAt.AsTime().Add(c.Duration.AsDuration())
		if c.ExitCode == nil {
			return nil, fmt.Errorf("command %d, %q: no outcome", i+1, c.Command)
		}
	}
	return out, nil
}

// unwrap takes the line out of bash -c 'line'.
func unwrap(command string) string {
	line, ok := strings.CutPrefix(command, "bash -c ")
	if !ok {
		return command
	}
	if strings.HasPrefix(line, "'") && strings.HasSuffix(line, "'") {
		line = strings.ReplaceAll(line[1:len(line)-1], `'\''`, "'")
	}
	return line
}

var machinePaths = regexp.MustCompile(`/(root|tmp)/[A-Za-z0-9_.@/+-]*/(go/pkg/mod|go-build)`)

// plain hides where this machine keeps things.
func plain(s string) string {
	s = machinePaths.ReplaceAllString(s, "/home/ann/$2")
	return strings.NewReplacer("/root/", "/home/ann/", "/tmp/recount ", "recount ", "/tmp/", "/src/").Replace(s)
}
