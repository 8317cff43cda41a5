// Command sample turns the trajectories of OpenHands (output.jsonl) into the sample that
// `recount quickstart` imports: each shell command that an agent ran, as a
// CloudEvent with its outcome.
//
//	go run ./internal/quickstart/sample < output.jsonl > internal/quickstart/sample/openhands.jsonl
//
// What OpenHands wrote stays as it is. The times it writes have no zone and are
// taken for UTC; the directory is the one after the command before.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strings"
	"time"
)

type event struct {
	ID          int    `json:"id"`
	Cause       int    `json:"cause"`
	Timestamp   string `json:"timestamp"`
	Action      string `json:"action"`
	Observation string `json:"observation"`
	Content     string `json:"content"`
	Args        struct {
		Command string `json:"command"`
		Thought string `json:"thought"`
	} `json:"args"`
	Extras struct {
		Command  string `json:"command"`
		Metadata struct {
			ExitCode   int    `json:"exit_code"`
			WorkingDir string `json:"working_dir"`
			Username   string `json:"username"`
			Hostname   string `json:"hostname"`
		} `json:"metadata"`
	} `json:"extras"`
	ToolCall struct {
		Response struct {
			Model string `json:"model"`
		} `json:"model_response"`
	} `json:"tool_call_metadata"`
}

// maxText bounds what is kept of an output and of a thought, in bytes.
const maxText = 2000

func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 64<<20)
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	for in.Scan() {
		var run struct {
			Instance string  `json:"instance_id"`
			History  []event `json:"history"`
		}
		if err := json.Unmarshal(in.Bytes(), &run); err != nil {
			log.Fatal(err)
		}
		actions := map[int]event{}
		cwd := ""
		for _, e := range run.History {
			if e.Action == "run" {
				actions[e.ID] = e
			}
			action, ok := actions[e.Cause]
			if e.Observation != "run" || !ok {
				continue
			}
			m := e.Extras.Metadata
			if cwd == "" {
				cwd = m.WorkingDir
			}
			start, end := at(action.Timestamp), at(e.Timestamp)
			data := map[string]any{
				"command": e.Extras.Command, "workspace": "/workspace/" + workspace(m.WorkingDir, cwd), "cwd": cwd,
				"session": run.Instance, "shell": "bash", "user": m.Username, "host": m.Hostname,
				"started_at": start.Format(time.RFC3339Nano), "duration": fmt.Sprintf("%.6fs", end.Sub(start).Seconds()),
				"exit_code": m.ExitCode, "author": "OpenHands/" + last(action.ToolCall.Response.Model),
			}
			if t := action.Args.Thought; t != "" {
				data["stated_intent"] = head(t)
			}
			if e.Content != "" {
				data["output_tail"] = tail(e.Content)
			}
			if err := out.Encode(map[string]any{
				"specversion": "1.0", "id": fmt.Sprintf("%s/%d", run.Instance, action.ID), "source": "openhands",
				"type": "command.executed", "time": start.Format(time.RFC3339Nano), "data": data,
			}); err != nil {
				log.Fatal(err)
			}
			cwd = m.WorkingDir
		}
	}
	if err := in.Err(); err != nil {
		log.Fatal(err)
	}
}

func at(s string) time.Time {
	t, err := time.Parse("2006-01-02T15:04:05.999999", s)
	if err != nil {
		log.Fatal(err)
	}
	return t.UTC()
}

// workspace is the repository's folder below /workspace.
func workspace(dirs ...string) string {
	for _, d := range dirs {
		if rest, ok := strings.CutPrefix(d, "/workspace/"); ok {
			name, _, _ := strings.Cut(rest, "/")
			return name
		}
	}
	return "ponylang__ponyc__0.1" // all three runs work in it
}

func last(model string) string { return model[strings.LastIndexByte(model, '/')+1:] }

func head(s string) string {
	if len(s) > maxText {
		s = s[:maxText]
	}
	return strings.ToValidUTF8(s, "")
}

func tail(s string) string {
	if len(s) > maxText {
		s = s[len(s)-maxText:]
		s = s[strings.IndexByte(s, '\n')+1:]
	}
	return strings.ToValidUTF8(s, "")
}
