// Package configs holds Benthos configs that do what the built-in streams of a node
// do. Each carries its own tests (`recount pipeline test`), and any of them can be
// copied, changed and given to `recount up --pipeline` or `recount pipeline run`.
//
//   - commands.yaml, commits.yaml, spans.yaml, agents.yaml and facts.yaml: log →
//     processors → projections, one stream a topic.
//   - split/process.yaml and split/project.yaml: the same for commands in two streams,
//     on two machines if need be, with a derived topic between them. Commits, spans and
//     agents have none: their records are larger than their events, which may fill a
//     message. Nor have facts, which are few.
//
// What is in ${} comes from the node or from the environment: RECOUNT_TOPIC_PREFIX,
// RECOUNT_EMBEDDER, RECOUNT_PROCESS_GROUP. Without seed_brokers a config reads and
// writes the log that the process was given (--brokers, or the embedded one).
package configs

import (
	"embed"
	"fmt"
	"strings"
)

// FS holds the files under their names here: "commands.yaml".
//
//go:embed commands.yaml commits.yaml spans.yaml agents.yaml facts.yaml split/*.yaml
var FS embed.FS

// The configs by role.
const (
	// Commands, Commits, Spans, Agents and Facts process and project the events of their topics.
	Commands = "commands.yaml"
	Commits  = "commits.yaml"
	Spans    = "spans.yaml"
	Agents   = "agents.yaml"
	Facts    = "facts.yaml"
	// Process makes records of events and appends them to a derived topic.
	Process = "split/process.yaml"
	// Project applies the records of the derived topic.
	Project = "split/project.yaml"
)

// Read returns the content of one of the files.
func Read(name string) (string, error) {
	b, err := FS.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("no built-in config %q: have %s", name,
			strings.Join([]string{Commands, Commits, Spans, Agents, Facts, Process, Project}, ", "))
	}
	return string(b), nil
}
