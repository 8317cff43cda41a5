package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/shellhook"
)

func (a *app) hookCmd() *cobra.Command {
	var bin string
	c := &cobra.Command{
		Use:   "hook {bash|zsh|fish}",
		Short: "Print the shell integration that records what you run",
		Long: `Print the script that records every command of a shell: its text, directory, exit
code and duration. It costs the prompt one fork; the rest happens where nothing
waits for it, with or without a server running.

A command is kept out by starting it with a space (bash: where HISTCONTROL or
HISTIGNORE keeps it out of the history), or by a pattern in RECOUNT_IGNORE, which
is written like HISTIGNORE:  RECOUNT_IGNORE='ls:cd *:*--password*'
What fails is told in ~/.local/state/recount-hook.log (or $RECOUNT_HOOK_LOG).`,
		Example: `  eval "$(recount hook bash)"       in ~/.bashrc
  eval "$(recount hook zsh)"        in ~/.zshrc
  recount hook fish | source        in ~/.config/fish/config.fish`,
		Args:      cobra.ExactArgs(1),
		ValidArgs: shellhook.Shells(),
		RunE: func(_ *cobra.Command, args []string) error {
			if bin == "" {
				var err error
				if bin, err = os.Executable(); err != nil {
					return fmt.Errorf("where this program is: %w; say it with --bin", err)
				}
			}
			script, err := shellhook.Script(args[0], bin)
			if err != nil {
				return usageError{err}
			}
			if a.json {
				return a.printJSON(map[string]string{"shell": args[0], "bin": bin, "script": script})
			}
			a.printf("%s", script)
			return nil
		},
	}
	c.Flags().StringVar(&bin, "bin", "", "the program that the script calls (default this one)")
	return c
}
