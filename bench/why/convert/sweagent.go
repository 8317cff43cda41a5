package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// step is one action of SWE-agent and what came back.
type step struct {
	Action      string          `json:"action"`
	Observation string          `json:"observation"`
	Thought     string          `json:"thought"`
	State       json.RawMessage `json:"state"`
}

// state is where the agent stands.
type state struct {
	OpenFile   string `json:"open_file"`
	WorkingDir string `json:"working_dir"`
}

// sweStart is when the first trajectory begins: they have no times of their own. A step every half
// minute keeps the order of the steps, and a day for each number keeps the trajectories apart.
var sweStart = time.Date(2024, 6, 1, 9, 0, 0, 0, time.UTC)

const sweStep = 30 * time.Second

func sweAgent(b []byte, name string) ([]*recountv1.CommandExecuted, error) {
	var t struct {
		Trajectory []step `json:"trajectory"`
		History    []struct {
			Role, Content, Action, Thought string
		} `json:"history"`
	}
	if err := json.Unmarshal(b, &t); err != nil {
		return nil, err
	}
	steps := t.Trajectory
	// A demonstration has a history only, with the state at an observation's end.
	for i := 0; t.Trajectory == nil && i < len(t.History); i++ {
		h := t.History[i]
		if h.Action == "" {
			continue
		}
		s := step{Action: h.Action, Thought: h.Thought}
		if i+1 < len(t.History) {
			s.Observation, s.State = splitPrompt(t.History[i+1].Content)
		}
		steps = append(steps, s)
	}
	return sweCommands(steps, name)
}

var prompt = regexp.MustCompile(`(?s)\n?\(Open file: (.*?)\)\s*\(Current directory: (.*?)\)\s*bash-\$\s*$`)

func splitPrompt(content string) (string, json.RawMessage) {
	m := prompt.FindStringSubmatchIndex(content)
	if m == nil {
		return content, nil
	}
	b, err := json.Marshal(state{OpenFile: content[m[2]:m[3]], WorkingDir: content[m[4]:m[5]]})
	if err != nil {
		return content, nil
	}
	return content[:m[0]], b
}

func sweCommands(steps []step, name string) ([]*recountv1.CommandExecuted, error) {
	var number int
	_, err := fmt.Sscanf(name, "swe-agent-%d", &number)
	numbered := err == nil
	start := sweStart.AddDate(0, 0, number)
	var out []*recountv1.CommandExecuted
	for i, s := range steps {
		// Some versions note the state before the step and some the one after it. An
		// edit leaves the open file open, and no step here changes the directory.
		st, err := parseState(s.State)
		if err != nil {
			return nil, err
		}
		c := &recountv1.CommandExecuted{
			Command: sweCommand(s.Action, st.OpenFile), Workspace: st.WorkingDir, Cwd: st.WorkingDir,
			Session: name, Shell: "bash", Author: "swe-agent", StatedIntent: head(s.Thought),
			StartedAt: timestamppb.New(start.Add(time.Duration(i) * sweStep)), Duration: durationpb.New(time.Second),
			OutputTail: tail(s.Observation),
		}
		code := sweExit(s.Observation)
		if !numbered { // a session of sources.txt
			code = *judged(s.Observation)
		}
		c.ExitCode = &code
		out = append(out, c)
	}
	return out, nil
}

// parseState reads a state, which some versions write as a string of JSON.
func parseState(raw json.RawMessage) (state, error) {
	var s state
	if len(raw) == 0 {
		return s, nil
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		raw = json.RawMessage(text)
	}
	return s, json.Unmarshal(raw, &s)
}

var lineRange = regexp.MustCompile(`^\d+:\d+$`)

// sweCommand is an action as a hook would name it: the edits of the open file
// with its path, and with the lines where the action gives them, without the
// text; everything else as it was given.
func sweCommand(action, open string) string {
	action = strings.TrimSpace(clean(action))
	verb, rest, _ := strings.Cut(action, " ")
	if verb != "edit" && verb != "insert" {
		return action
	}
	cmd := "edit " + open
	first, _, _ := strings.Cut(rest, "\n")
	if lineRange.MatchString(first) {
		cmd += " " + first
	}
	return cmd
}

// sweFailures are the signs of a failed step. SWE-agent keeps no exit codes.
var sweFailures = []string{
	"Traceback (most recent call last)", "Your changes have NOT been applied", "EXECUTION TIMED OUT",
	"command not found", "No such file or directory", "Wrong flag!", "PLEASE REFINE YOUR RUNNING COMMAND",
}

func sweExit(observation string) int32 {
	for _, f := range sweFailures {
		if strings.Contains(observation, f) {
			return 1
		}
	}
	return 0
}
