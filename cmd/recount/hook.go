package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/agenthook"
	"github.com/recountdb/recount/internal/hookrun"
	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/internal/settingsfile"
	"github.com/recountdb/recount/internal/shellhook"
	"github.com/recountdb/recount/internal/usage"
)

func (a *app) hookCmd() *cobra.Command {
	var bin string
	var f agentFlags
	c := &cobra.Command{
		Use:   "hook {" + strings.Join(hooked(), "|") + "}",
		Short: "Record what a shell or a coding agent runs",
		Long: `For a shell: print the script that records every command: its text, directory,
exit code, start and duration. The prompt waits for nothing, with or without a
server running: recount-record, the small program beside this one (or recount
record --hook, where that is missing), puts the command into the spool of the
data directory. For bash 5 and zsh on Linux one process of it listens to each
shell. What Recount's own verbs are given is left out.

For a coding agent: print what must stand in its settings, and where, for its
commands and its changes of files to be recorded with their outcome and the
agent's reason; --install puts it there, --uninstall takes it out again. Other
hooks stay as they are. A change of a file is recorded as edit PATH or create
PATH, without its text; --no-edits leaves changes out.

A command is kept out by starting it with a space (bash: where HISTCONTROL or
HISTIGNORE keeps it out of the history; not for agents), or by a pattern in
RECOUNT_IGNORE, which is written like HISTIGNORE:
  RECOUNT_IGNORE='ls:cd *:*--password*'
What fails is told in ~/.local/state/recount-hook.log (or $RECOUNT_HOOK_LOG).`,
		Example: `  eval "$(recount hook bash)"       in ~/.bashrc
  eval "$(recount hook zsh)"        in ~/.zshrc
  recount hook fish | source        in ~/.config/fish/config.fish
  recount hook claude-code          what to put into which settings file
  recount hook claude-code --install
  recount hook codex --install --project --dry-run`,
		Args:      cobra.ExactArgs(1),
		ValidArgs: hooked(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if bin == "" {
				var err error
				if bin, err = os.Executable(); err != nil {
					return fmt.Errorf("where this program is: %w; say it with --bin", err)
				}
			}
			if agent, err := agenthook.Named(args[0]); err == nil {
				return a.agentHook(agent, bin, f)
			}
			if f != (agentFlags{}) {
				return usage.Errorf("--install and its like are for agents: %s", strings.Join(agenthook.Names(), ", "))
			}
			if !slices.Contains(shellhook.Shells(), args[0]) {
				return usage.Errorf("%q: there is a hook for %s", args[0], strings.Join(hooked(), ", "))
			}
			script, err := shellhook.Script(args[0], recorder(bin))
			if err != nil {
				return usage.Wrap(err)
			}
			if a.JSON {
				return a.PrintJSON(map[string]string{"shell": args[0], "bin": bin, "script": script})
			}
			a.Printf("%s", script)
			return nil
		},
	}
	c.Flags().StringVar(&bin, "bin", "", "the program that is called (default this one)")
	c.Flags().BoolVar(&f.install, "install", false, "put the hooks into the agent's settings")
	c.Flags().BoolVar(&f.uninstall, "uninstall", false, "take the hooks out of the agent's settings")
	c.Flags().BoolVar(&f.project, "project", false, "the settings of the project in this directory, not the user's")
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "with --install or --uninstall: print what would change, and change nothing")
	c.Flags().BoolVar(&f.noEdits, "no-edits", false, "leave out the agent's changes of files")
	c.AddCommand(a.hookRunCmd())
	return c
}

// recorder returns the program that a shell's hook calls: recount-record beside this program, or
// else this program.
func recorder(bin string) shellhook.Recorder {
	small := filepath.Join(filepath.Dir(bin), "recount-record")
	if st, err := os.Stat(small); err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0 {
		return shellhook.Recorder{Command: []string{small}, Listens: true}
	}
	return shellhook.Recorder{Command: []string{bin, "record", "--hook"}}
}

// hooked lists the shells and agents that have hooks.
func hooked() []string { return append(shellhook.Shells(), agenthook.Names()...) }

// agentFlags are the flags of `recount hook AGENT`.
type agentFlags struct{ install, uninstall, project, dryRun, noEdits bool }

// hookChange is what --json prints about an agent's settings.
type hookChange struct {
	Agent    string `json:"agent"`
	File     string `json:"file"`
	Changed  bool   `json:"changed"`
	DryRun   bool   `json:"dry_run,omitempty"`
	Settings string `json:"settings"`
}

func (a *app) agentHook(agent agenthook.Agent, bin string, f agentFlags) error {
	switch {
	case f.install && f.uninstall:
		return usage.Errorf("--install and --uninstall: want one of them")
	case f.dryRun && !f.install && !f.uninstall:
		return usage.Errorf("--dry-run: want --install or --uninstall with it")
	}
	project := ""
	if f.project {
		var err error
		if project, err = os.Getwd(); err != nil {
			return fmt.Errorf("the project's directory: %w", err)
		}
	}
	file, err := agent.SettingsFile(project, a.Getenv)
	if err != nil {
		return err
	}
	command := agent.Command(bin)
	if !f.install && !f.uninstall {
		snippet := string(agent.Snippet(command, !f.noEdits))
		if a.JSON {
			return a.PrintJSON(hookChange{Agent: agent.Name, File: file, Settings: snippet})
		}
		a.Printf("%s\n", a.Paint(render.Dim, "In "+file+", among what is there (or: recount hook "+agent.Name+" --install):"))
		a.Printf("%s%s\n", snippet, a.Paint(render.Dim, agent.Note))
		return nil
	}
	before, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	after, changed := before, false
	if f.install {
		after, changed, err = agent.Install(before, command, !f.noEdits)
	} else {
		after, changed, err = agent.Uninstall(before)
	}
	if err != nil {
		return fmt.Errorf("%s: %w; nothing was changed: recount hook %s prints what belongs there", file, err, agent.Name)
	}
	if changed && !f.dryRun {
		if err := settingsfile.Replace(file, before, after); err != nil {
			return err
		}
	}
	if a.JSON {
		return a.PrintJSON(hookChange{Agent: agent.Name, File: file, Changed: changed, DryRun: f.dryRun, Settings: string(after)})
	}
	switch {
	case !changed:
		a.Printf("%s: nothing to change\n", file)
	case f.dryRun:
		a.Printf("--- %s\n+++ %s\n%s", file, file, settingsfile.Diff(string(before), string(after)))
	case f.install:
		a.Printf("%s: installed. %s\n", file, agent.Note)
	default:
		a.Printf("%s: taken out\n", file)
	}
	return nil
}

func (a *app) hookRunCmd() *cobra.Command {
	c := &cobra.Command{
		Use:    "run {" + strings.Join(agenthook.Names(), "|") + "}",
		Short:  "What an agent's settings call: records the tool's use that the standard input tells",
		Hidden: true,
		Args:   cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := hookrun.Run(a.Connector, args); err != nil {
				a.HookLog(err)
			}
			return nil
		},
	}
	// Exit code 2 would forbid the agent its tool, so a usage error must not cause it.
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		a.HookLog(fmt.Errorf("hook run: %w", err))
		return exitError(0)
	})
	return c
}
