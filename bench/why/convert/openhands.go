package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// ohEvent is an action of OpenHands, or an observation, whose cause is the id of
// its action. That link is used to unite the two, and for nothing else.
type ohEvent struct {
	ID          int    `json:"id"`
	Timestamp   string `json:"timestamp"`
	Source      string `json:"source"`
	Action      string `json:"action"`
	Observation string `json:"observation"`
	Cause       *int   `json:"cause"`
	Content     string `json:"content"`
	Args        struct {
		Command    string `json:"command"`
		Path       string `json:"path"`
		Thought    string `json:"thought"`
		ViewRange  []int  `json:"view_range"`
		InsertLine *int   `json:"insert_line"`
	} `json:"args"`
	Extras struct {
		Metadata struct {
			ExitCode   *int32 `json:"exit_code"`
			WorkingDir string `json:"working_dir"`
		} `json:"metadata"`
	} `json:"extras"`
}

// openHands reads one run a line.
func openHands(file string) ([][]*recountv1.CommandExecuted, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var runs [][]*recountv1.CommandExecuted
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 64<<20)
	for sc.Scan() {
		var run struct {
			History []ohEvent `json:"history"`
		}
		if err := json.Unmarshal(sc.Bytes(), &run); err != nil {
			return nil, fmt.Errorf("run %d: %w", len(runs)+1, err)
		}
		cmds, err := ohCommands(run.History)
		if err != nil {
			return nil, fmt.Errorf("run %d: %w", len(runs)+1, err)
		}
		runs = append(runs, cmds)
	}
	return runs, sc.Err()
}

func ohCommands(history []ohEvent) ([]*recountv1.CommandExecuted, error) {
	answers := map[int]ohEvent{}
	cwd := ""
	for _, h := range history {
		if h.Observation == "" || h.Cause == nil {
			continue
		}
		answers[*h.Cause] = h
		if dir := h.Extras.Metadata.WorkingDir; cwd == "" && dir != "" {
			cwd = dir // no first command here changes directory
		}
	}
	workspace := cwd
	var out []*recountv1.CommandExecuted
	for _, h := range history {
		cmd := ohCommand(h)
		answer, ok := answers[h.ID]
		if cmd == "" || !ok {
			continue
		}
		start, err := ohTime(h.Timestamp)
		if err != nil {
			return nil, err
		}
		end, err := ohTime(answer.Timestamp)
		if err != nil {
			return nil, err
		}
		c := &recountv1.CommandExecuted{
			Command: cmd, Workspace: workspace, Cwd: cwd, Shell: "bash", Author: "openhands",
			StatedIntent: head(h.Args.Thought), StartedAt: timestamppb.New(start), OutputTail: tail(answer.Content),
		}
		if end.After(start) {
			c.Duration = durationpb.New(end.Sub(start))
		}
		code := int32(0)
		switch m := answer.Extras.Metadata; {
		case m.ExitCode != nil:
			code = *m.ExitCode
		case strings.HasPrefix(answer.Content, "ERROR:"), answer.Observation == "error":
			code = 1
		}
		c.ExitCode = &code
		out = append(out, c)
		if dir := answer.Extras.Metadata.WorkingDir; dir != "" {
			cwd = dir
		}
	}
	return out, nil
}

// ohCommand is an action as a hook would name it, or nothing for one that is no
// command.
func ohCommand(h ohEvent) string {
	switch h.Action {
	case "run":
		return clean(h.Args.Command)
	case "read":
		cmd := "view " + h.Args.Path
		if r := h.Args.ViewRange; len(r) == 2 {
			cmd += fmt.Sprintf(" %d:%d", r[0], r[1])
		}
		return cmd
	case "edit", "write":
		if h.Args.Command == "create" || h.Action == "write" {
			return "create " + h.Args.Path
		}
		cmd := "edit " + h.Args.Path
		if n := h.Args.InsertLine; n != nil {
			cmd += fmt.Sprintf(" %d:%d", *n, *n)
		}
		return cmd
	}
	return ""
}

func ohTime(s string) (time.Time, error) {
	// As Python writes it, without a zone; which one does not matter here.
	return time.Parse("2006-01-02T15:04:05.999999", s)
}
