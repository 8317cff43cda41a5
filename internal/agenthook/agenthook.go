// Package agenthook knows the hooks of coding agents: where each keeps its
// settings, what must stand there for it to call `recount hook run AGENT` around
// its tools, and what it then says on the standard input.
//
// What a caller may rely on:
//
//   - Parse takes any bytes. What it does not understand gives no commands and an
//     error for a log; nothing panics, and what it returns is bounded (MaxInput,
//     MaxOutput).
//   - The id of an event is made of the agent, its session and the id that it
//     gave to the tool's use: so the call before and the call after a tool meet,
//     and a call that is repeated does nothing.
//   - Install and Uninstall change the hooks that call this program and nothing
//     else of a settings file, keep the order of its members, and change nothing
//     the second time. A file that is not plain JSON is refused.
//
// The agents' documentation, as of 2026: code.claude.com/docs/en/hooks,
// developers.openai.com/codex/hooks, geminicli.com/docs/hooks/reference.
package agenthook

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Agent is one coding agent that has hooks.
type Agent struct {
	// Name is what the command line and the author of its events call it.
	Name string
	// Title is what people call it.
	Title string
	// events are the hooks to ask for, in the order they stand in the settings.
	events []event
	// matcher selects the tools that run commands, and edits those that change files.
	matcher, edits string
	// anchor says that a matcher is a regular expression that may match in the middle.
	anchor bool
	// timeout is after how long the agent may give a hook up, in its own unit: ten
	// seconds, of which a hook needs some hundredths.
	timeout int
	// dirEnv names the variable that moves the user's folder, if there is one.
	dirEnv string
	// dir is its folder in the home directory and in a project; file the file there.
	dir, file string
	// Note is what else the user must do.
	Note string
}

// event is one hook of an agent and what of a tool's use it tells.
type event struct {
	name  string
	stage Stage
}

// Stage is what of a tool's use a call of the hook tells.
type Stage uint8

const (
	// Before: the tool is about to run.
	Before Stage = 1 + iota
	// After: it ended, as the response says.
	After
	// Failed: it failed.
	Failed
)

var agents = []Agent{
	{
		Name: "claude-code", Title: "Claude Code",
		events:  []event{{"PreToolUse", Before}, {"PostToolUse", After}, {"PostToolUseFailure", Failed}},
		matcher: "Bash", edits: "Edit|MultiEdit|Write|NotebookEdit",
		timeout: 10, dirEnv: "CLAUDE_CONFIG_DIR", dir: ".claude", file: "settings.json",
		Note: "Claude Code reads its hooks when a session starts.",
	},
	{
		Name: "codex", Title: "Codex",
		events:  []event{{"PreToolUse", Before}, {"PostToolUse", After}},
		matcher: "Bash", edits: "apply_patch", anchor: true,
		timeout: 10, dirEnv: "CODEX_HOME", dir: ".codex", file: "hooks.json",
		Note: "Codex runs a new hook once you have trusted it: /hooks, inside Codex.",
	},
	{
		Name: "gemini", Title: "Gemini CLI",
		// BeforeTool and AfterTool have no id in common, so the one after says it all.
		events:  []event{{"AfterTool", After}},
		matcher: "run_shell_command", edits: "replace|write_file", anchor: true,
		timeout: 10_000, dir: ".gemini", file: "settings.json",
		Note: "Gemini CLI reads its hooks when a session starts.",
	},
}

// Names are the agents that have hooks, in order.
func Names() []string {
	var names []string
	for _, a := range agents {
		names = append(names, a.Name)
	}
	return names
}

// Named is an agent by its name.
func Named(name string) (Agent, error) {
	i := slices.IndexFunc(agents, func(a Agent) bool { return a.Name == name })
	if i < 0 {
		return Agent{}, fmt.Errorf("agent %q: there are hooks for %s", name, strings.Join(Names(), ", "))
	}
	return agents[i], nil
}

// SettingsFile is where the agent's hooks stand: for the user, or for the project
// in the directory project where that is given.
func (a Agent) SettingsFile(project string, getenv func(string) string) (string, error) {
	if project != "" {
		return filepath.Join(project, a.dir, a.file), nil
	}
	if a.dirEnv != "" && getenv(a.dirEnv) != "" {
		return filepath.Join(getenv(a.dirEnv), a.file), nil
	}
	home := getenv("HOME")
	if home == "" {
		return "", fmt.Errorf("where the settings of %s are: HOME is not set", a.Title)
	}
	return filepath.Join(home, a.dir, a.file), nil
}

// Command is the line that the agent's settings call the program bin by.
func (a Agent) Command(bin string) string {
	return "'" + strings.ReplaceAll(bin, "'", `'\''`) + "' " + a.call()
}

// call ends every command that is ours.
func (a Agent) call() string { return "hook run " + a.Name }

// ours says whether a command of the settings is one that Install wrote, with
// whatever path the program had then.
func (a Agent) ours(command string) bool {
	rest, ok := strings.CutSuffix(strings.TrimSpace(command), " "+a.call())
	return ok && strings.Contains(filepath.Base(strings.Trim(rest, `'"`)), "recount")
}

// Matcher is the pattern of the tools to be told of.
func (a Agent) Matcher(edits bool) string {
	m := a.matcher
	if edits {
		m += "|" + a.edits
	}
	if a.anchor {
		m = "^(" + m + ")$"
	}
	return m
}
