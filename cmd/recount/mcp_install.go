package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/installed"
	"github.com/recountdb/recount/internal/mcpinstall"
	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/internal/settingsfile"
	"github.com/recountdb/recount/internal/usage"
)

// mcpFlags are the flags of mcp install and uninstall.
type mcpFlags struct {
	bin, dir            string
	project, yes, print bool
}

// settingsChange is the answer of mcp install and uninstall as JSON.
type settingsChange struct {
	Client string `json:"client"`
	File   string `json:"file"`
	// Changes is whether the settings differ from what they are to be.
	Changes bool `json:"changes"`
	// Written is whether the file was changed; it is not with --print.
	Written bool `json:"written"`
	// Diff has the changed lines.
	Diff string `json:"diff,omitempty"`
}

func (a *app) mcpInstallCmd(remove bool) *cobra.Command {
	var f mcpFlags
	names := "{" + strings.Join(mcpinstall.Names(), "|") + "}"
	c := &cobra.Command{
		Use:   "install " + names,
		Short: "Add Recount to the MCP servers of a coding agent",
		Long: `Show what would change in the agent's settings, ask, and write it: an entry that runs
recount mcp. Other entries, comments and the layout are kept, and the old file is kept
beside it as FILE.recount-backup. --data-dir and --server are written into the entry if
they are given. The agent reads its settings when it starts.`,
		Example: `  recount mcp install claude-code
  recount mcp install cursor --yes --project
  recount mcp install codex --print
  recount mcp uninstall claude-code`,
		Args: cobra.ExactArgs(1), ValidArgs: mcpinstall.Names(),
		RunE: func(_ *cobra.Command, args []string) error { return a.mcpSettings(args[0], f, remove) },
	}
	if remove {
		c.Use, c.Short = "uninstall "+names, "Remove Recount from the MCP servers of a coding agent"
		c.Long = `Show what would change in the agent's settings, ask, and write it: everything but
Recount's entry is kept, and the old file beside it as FILE.recount-backup.`
		c.Example = `  recount mcp uninstall claude-code
  recount mcp uninstall cursor --yes --project`
	} else {
		c.Flags().StringVar(&f.bin, "bin", "", "the program that the entry runs (default this one)")
		c.Flags().StringVar(&f.dir, "dir", "", "the repository to ask about, if the agent names none")
	}
	c.Flags().BoolVar(&f.project, "project", false, "the settings of the project in this directory, not the user's")
	c.Flags().BoolVarP(&f.yes, "yes", "y", false, "write without asking")
	c.Flags().BoolVar(&f.print, "print", false, "print what would change, and change nothing")
	return c
}

// mcpSettings adds the entry to a client's settings, or removes it.
func (a *app) mcpSettings(name string, f mcpFlags, remove bool) error {
	client, err := mcpinstall.Named(name)
	if err != nil {
		return usage.Wrap(err)
	}
	project := ""
	if f.project {
		if project, err = os.Getwd(); err != nil {
			return fmt.Errorf("the project's directory: %w", err)
		}
	}
	config := a.Getenv("XDG_CONFIG_HOME")
	if home := a.Getenv("HOME"); config == "" && home != "" {
		config = filepath.Join(home, ".config")
		if _, err := os.Stat(filepath.Join(home, "Library", "Application Support")); err == nil {
			config = filepath.Join(home, "Library", "Application Support")
		}
	}
	file, err := client.File(project, a.Getenv("HOME"), config, a.Getenv)
	if err != nil {
		return err
	}
	before, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	after, changed := before, false
	if remove {
		after, changed, err = client.Uninstall(before)
	} else {
		if f.bin == "" {
			if f.bin, err = installed.Recount(); err != nil {
				return fmt.Errorf("%w; give it with --bin", err)
			}
		}
		after, changed, err = client.Install(before, f.bin, a.mcpArgs(f))
	}
	if err != nil {
		return fmt.Errorf("%s: %w; nothing was changed: add the server by hand as docs/mcp.md shows", file, err)
	}
	done := settingsChange{Client: name, File: file, Changes: changed}
	if changed {
		done.Diff = settingsfile.Diff(string(before), string(after))
	}
	if !a.JSON {
		if !changed {
			a.Printf("%s: nothing to change\n", file)
			return nil
		}
		a.Printf("--- %s\n+++ %s\n%s", file, file, done.Diff)
	}
	if changed && !f.print {
		if !f.yes && !a.agreed() {
			return exitError(exitNothing)
		}
		if err := settingsfile.Replace(file, before, after); err != nil {
			return err
		}
		done.Written = true
	}
	if a.JSON {
		return a.PrintJSON(done)
	}
	if done.Written {
		a.Printf("%s\n", a.Paint(render.Dim, "written; restart the agent"))
	}
	return nil
}

// agreed asks whether to write a change that was shown.
func (a *app) agreed() bool {
	if a.JSON {
		fmt.Fprintln(a.Err, "recount: --json does not ask: give --yes to write, or --print to see the change")
		return false
	}
	fmt.Fprintf(a.Err, "write this? [y/N] ")
	line, _ := bufio.NewReader(a.In).ReadString('\n')
	if answer := strings.ToLower(strings.TrimSpace(line)); answer != "y" && answer != "yes" {
		fmt.Fprintln(a.Err, "recount: nothing was changed; --yes writes without asking")
		return false
	}
	return true
}

// mcpArgs returns the arguments of the entry.
func (a *app) mcpArgs(f mcpFlags) []string {
	args := []string{"mcp"}
	for _, x := range [][2]string{{"--data-dir", a.DataDir}, {"--server", a.Server}, {"--dir", f.dir}} {
		if x[1] == "" {
			continue
		}
		if x[0] != "--server" {
			if abs, err := filepath.Abs(x[1]); err == nil {
				x[1] = abs
			}
		}
		args = append(args, x[0], x[1])
	}
	return args
}
