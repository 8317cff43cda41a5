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
	"github.com/recountdb/recount/internal/installed"
	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/internal/settingsfile"
	"github.com/recountdb/recount/internal/shellhook"
	"github.com/recountdb/recount/internal/usage"
)

func (a *app) hookCmd() *cobra.Command {
	var bin string
	var noBind, bindUp bool
	var f agentFlags
	c := &cobra.Command{
		Use:   "hook {" + strings.Join(hooked(), "|") + "}",
		Short: "Record the commands of a shell or a coding agent",
		Long: `For a shell: print the script that records every command with its text, directory,
exit code, start and duration. The prompt never waits, whether or not a server runs:
recount-record, a small program beside this one (or recount record --hook, if it is
missing), puts the command into the spool of the data directory. For bash 5 and zsh on
Linux, one such process listens to each shell. Commands that run recount itself are
not recorded. The script for PowerShell was written from its documentation and has not
been tried there.

In bash (4.3 and later), zsh and fish it also binds ctrl-r to recount search; --no-bind
leaves the keys alone, --bind-up takes arrow-up, too.

For a coding agent: print the entry for its settings, and where it belongs, that
records its commands and file changes with their outcome and the agent's reason.
--install adds the entry, --uninstall removes it. Other hooks are not changed. A file
change is recorded as edit PATH or create PATH, without its text; --no-edits leaves
file changes out. Prompts, answers, calls and results are recorded from the session's
file when a prompt is sent, an answer is complete and the session ends, by a process of
its own, with secrets redacted; recount import agents recognises them. --no-messages
leaves them out.

With --recall the agent is also told what bears on its work, if a server runs
(recount up): at the start of a session a brief (recount brief), at a prompt what was
said before about it, after a failed command whether this failure was met before and
what mended it; or nothing. recount-record asks, waits for 130 ms at most, and fails
open. Without --recall nothing is ever put into a context.

A command is not recorded if it starts with a space (not for agents), or if it matches a
pattern in RECOUNT_IGNORE, which is written like HISTIGNORE:
  RECOUNT_IGNORE='ls:cd *:*--password*'
or if it starts in a directory of RECOUNT_IGNORE_DIRS, or below one:
  RECOUNT_IGNORE_DIRS='~/private:/srv/clients/*'
Errors are written to ~/.local/state/recount-hook.log (or $RECOUNT_HOOK_LOG).`,
		Example: `  eval "$(recount hook bash)"       in ~/.bashrc
  eval "$(recount hook zsh)"        in ~/.zshrc
  recount hook fish | source        in ~/.config/fish/config.fish
  execx($(recount hook xonsh))      in ~/.xonshrc
  recount hook nu | save --force ($nu.data-dir | path join vendor/autoload/recount.nu)     once, in nu
  recount hook pwsh | Out-String | Invoke-Expression                                      in $PROFILE
  recount hook claude-code          print the entry and its settings file
  recount hook claude-code --install
  recount hook claude-code --install --recall         and remind the agent of earlier work
  recount hook claude-code --install --no-messages    only commands and file changes
  recount hook codex --install --project --dry-run`,
		Args:      cobra.ExactArgs(1),
		ValidArgs: hooked(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if bin == "" {
				var err error
				if bin, err = installed.Recount(); err != nil {
					return fmt.Errorf("%w; give it with --bin", err)
				}
			}
			if noBind && bindUp {
				return usage.Errorf("--no-bind and --bind-up: give one of them")
			}
			f.recallSet = cmd.Flags().Changed("recall")
			if agent, err := agenthook.Named(args[0]); err == nil {
				if noBind || bindUp {
					return usage.Errorf("--no-bind and --bind-up are only for shells: %s", strings.Join(shellhook.Shells(), ", "))
				}
				return a.agentHook(agent, bin, f)
			}
			if f != (agentFlags{}) {
				return usage.Errorf("--install and similar flags are only for agents: %s", strings.Join(agenthook.Names(), ", "))
			}
			if !slices.Contains(shellhook.Shells(), args[0]) {
				return usage.Errorf("%q: hooks exist for %s", args[0], strings.Join(hooked(), ", "))
			}
			script, err := shellhook.Script(args[0], recorder(bin))
			if err != nil {
				return usage.Wrap(err)
			}
			if bindUp && !slices.Contains(shellhook.Bound(), args[0]) {
				return usage.Errorf("--bind-up: keys are bound in %s", strings.Join(shellhook.Bound(), ", "))
			}
			if !noBind {
				script += shellhook.Bindings(args[0], bin, bindUp)
			}
			if a.JSON {
				return a.PrintJSON(map[string]string{"shell": args[0], "bin": bin, "script": script})
			}
			a.Printf("%s", script)
			return nil
		},
	}
	c.Flags().StringVar(&bin, "bin", "", "the program that the hooks call (default this one)")
	c.Flags().BoolVar(&noBind, "no-bind", false, "do not bind ctrl-r to recount search")
	c.Flags().BoolVar(&bindUp, "bind-up", false, "bind arrow-up to recount search, too")
	c.Flags().BoolVar(&f.install, "install", false, "add the hooks to the agent's settings")
	c.Flags().BoolVar(&f.uninstall, "uninstall", false, "remove the hooks from the agent's settings")
	c.Flags().BoolVar(&f.project, "project", false, "the settings of the project in this directory, not the user's")
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "with --install or --uninstall: print what would change, and change nothing")
	c.Flags().BoolVarP(&f.yes, "yes", "y", false, "as mcp install has it; hooks are installed without a question anyway")
	c.Flags().BoolVar(&f.noEdits, "no-edits", false, "do not record the agent's file changes")
	c.Flags().BoolVar(&f.noMessages, "no-messages", false, "do not record prompts, answers and results of tools")
	c.Flags().BoolVar(&f.recall, "recall", false, "also put what bears on the agent's work into its context (default as it is installed; --recall=false turns it off)")
	c.AddCommand(a.hookRunCmd(), a.hookFollowCmd())
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
type agentFlags struct {
	install, uninstall, project, dryRun, yes, noEdits, noMessages, recall bool
	recallSet                                                             bool // --recall was given, with whatever value
}

func (f agentFlags) recorded() agenthook.Recorded {
	return agenthook.Recorded{Edits: !f.noEdits, Messages: !f.noMessages}
}

// hookChange is what --json prints about an agent's settings.
type hookChange struct {
	Agent    string `json:"agent"`
	File     string `json:"file"`
	Changed  bool   `json:"changed"`
	DryRun   bool   `json:"dry_run,omitempty"`
	Settings string `json:"settings"`
	// Recall is whether the hooks recall, if they are installed.
	Recall bool `json:"recall,omitempty"`
}

func (a *app) agentHook(agent agenthook.Agent, bin string, f agentFlags) error {
	switch {
	case f.install && f.uninstall:
		return usage.Errorf("--install and --uninstall: give one of them")
	case f.dryRun && !f.install && !f.uninstall:
		return usage.Errorf("--dry-run: only with --install or --uninstall")
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
	before, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	// Who installs again, such as after an update, keeps recall as it is.
	was := strings.Contains(agent.Installed(before), "recount-record'")
	if f.install && was && !f.recallSet && !f.noMessages {
		f.recall = true
	}
	command := agent.Command(bin)
	if f.recall {
		if command, err = recalling(agent, bin, f); err != nil {
			return err
		}
	}
	if !f.install && !f.uninstall {
		snippet := string(agent.Snippet(command, f.recorded()))
		if a.JSON {
			return a.PrintJSON(hookChange{Agent: agent.Name, File: file, Settings: snippet})
		}
		a.Printf("%s\n", a.Paint(render.Dim, "In "+file+", among what is there (or: recount hook "+agent.Name+" --install):"))
		a.Printf("%s%s\n", snippet, a.Paint(render.Dim, agent.Note))
		return nil
	}
	after, changed := before, false
	if f.install {
		after, changed, err = agent.Install(before, command, f.recorded())
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
		return a.PrintJSON(hookChange{Agent: agent.Name, File: file, Changed: changed, DryRun: f.dryRun, Settings: string(after), Recall: f.install && f.recall})
	}
	switch {
	case !changed && f.install:
		a.Printf("%s: nothing to change; %s\n", file, f.recalls(was))
	case !changed:
		a.Printf("%s: nothing to change\n", file)
	case f.dryRun:
		a.Printf("--- %s\n+++ %s\n%s", file, file, settingsfile.Diff(string(before), string(after)))
	case f.install:
		a.Printf("%s: installed; %s. %s\n", file, f.recalls(was), agent.Note)
	default:
		a.Printf("%s: removed\n", file)
	}
	return nil
}

// recalls says whether the hooks recall, and whether that is as it was.
func (f agentFlags) recalls(was bool) string {
	switch {
	case f.recall && was && !f.recallSet:
		return "recall: on, as before (--recall=false turns it off)"
	case f.recall:
		return "recall: on"
	case was:
		return "recall: off (it was on)"
	}
	return "recall: off (--recall turns it on)"
}

// recalling returns the command line of a hook that also recalls: that of recount-record, which
// starts faster than this program and calls it to record.
func recalling(agent agenthook.Agent, bin string, f agentFlags) (string, error) {
	switch small := recorder(bin); {
	case f.noMessages:
		return "", usage.Errorf("--recall and --no-messages: what is not recorded cannot be recalled; give one of them")
	case !small.Listens:
		return "", fmt.Errorf("--recall: recount-record is not beside %s: install it there (make build, or the release's archive)", bin)
	default:
		return agent.Command(small.Command[0]), nil
	}
}

func (a *app) hookRunCmd() *cobra.Command {
	c := &cobra.Command{
		Use:    "run {" + strings.Join(agenthook.Names(), "|") + "}",
		Short:  "Record the tool use described on the standard input (called by an agent's hook)",
		Hidden: true,
		Args:   cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := hookrun.Run(a.Connector, args); err != nil {
				a.HookLog(err)
			}
			return nil
		},
	}
	a.neverFails(c)
	return c
}

// hookFollowCmd returns the verb of the process that a hook starts for a session's file.
func (a *app) hookFollowCmd() *cobra.Command {
	c := &cobra.Command{
		Use:    "follow FILE",
		Short:  "Record the session's file that the call in FILE names (started by an agent's hook)",
		Hidden: true,
		Args:   cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := hookrun.FollowCall(cmd.Context(), a.Connector, args); err != nil {
				a.HookLog(err)
			}
			return nil
		},
	}
	a.neverFails(c)
	return c
}

// neverFails makes a verb that agents call exit with 0 whatever happens.
func (a *app) neverFails(c *cobra.Command) {
	// Exit code 2 would forbid the agent its tool, so a usage error must not cause it.
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		a.HookLog(fmt.Errorf("hook run: %w", err))
		return exitError(0)
	})
}
