package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/internal/render/nodeview"
	"github.com/recountdb/recount/server/access"
	"github.com/recountdb/recount/server/node"
)

// tokensFile returns the tokens file for a verb: that of the flag, else of the config, else of the
// server on the data directory.
func (a *app) tokensFile(flag string) (string, error) {
	if flag != "" {
		return flag, nil
	}
	cfg, err := a.nodeConfig()
	if err != nil {
		return "", err
	}
	if cfg.HTTP.TokensFile != "" {
		return cfg.HTTP.TokensFile, nil
	}
	e, err := node.ReadEndpoints(cfg.DataDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if e.TokensFile == "" {
		return "", usagef("which tokens file? Neither the config (http.tokens_file) nor a server on %s names one: say --file", a.Home(cfg.DataDir))
	}
	return e.TokensFile, nil
}

func (a *app) tokenFileFlag(c *cobra.Command, file *string) {
	c.Flags().StringVar(file, "file", "", "the tokens file (default that of the config, or of the server on the data directory)")
	_ = c.MarkFlagFilename("file", "yaml", "yml")
}

func (a *app) tokenListCmd() *cobra.Command {
	var file string
	c := &cobra.Command{
		Use:   "list",
		Short: "List the tokens of a tokens file, and what in it is not in force",
		Long: `List the tokens of a tokens file: by the start of their SHA-256, since they themselves
stand nowhere. An entry with a mistake is not in force, and no entry is of a file that
cannot be read: that is told with the line, and list exits with 1.`,
		Example: "  recount token list\n  recount token list --file tokens.yaml --json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			path, err := a.tokensFile(file)
			if err != nil {
				return err
			}
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			all, err := access.Parse(b)
			if err != nil {
				return fmt.Errorf("%s: %w; no token of it is in force", a.Home(path), err)
			}
			now, tokens, wrong := time.Now(), []nodeview.Token{}, []string{}
			for _, e := range all.Entries {
				tokens = append(tokens, nodeview.TokenOf(e, now))
			}
			for _, m := range all.Mistakes {
				wrong = append(wrong, m.Error())
			}
			if a.JSON {
				err = a.PrintJSON(struct {
					File     string           `json:"file"`
					Tokens   []nodeview.Token `json:"tokens"`
					Mistakes []string         `json:"mistakes"`
				}{path, tokens, wrong})
			} else {
				nodeview.Tokens(a.Terminal, tokens)
				for _, m := range wrong {
					a.Note("not in force: %s: %s", a.Home(path), render.OneLine(m))
				}
			}
			if err == nil && len(wrong) > 0 {
				return exitError(exitNothing)
			}
			return err
		},
	}
	a.tokenFileFlag(c, &file)
	return c
}

func (a *app) tokenRevokeCmd() *cobra.Command {
	var file string
	var all bool
	c := &cobra.Command{
		Use:   "revoke TOKEN",
		Short: "Take a token out of a tokens file",
		Long: `Take a token out of a tokens file. TOKEN is its name, the start of its SHA-256 as
recount token list prints it, or the token itself. A running server refuses it from
the first request a second or more after it looked last.`,
		Example: `  recount token revoke 3f9a2c51d07e
  recount token revoke 'claude on the build machine'
  recount token revoke ci --all                        every token of that name`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			path, err := a.tokensFile(file)
			if err != nil {
				return err
			}
			gone, err := revoke(path, args[0], all)
			if err != nil {
				return err
			}
			now, tokens := time.Now(), []nodeview.Token{}
			for _, e := range gone {
				tokens = append(tokens, nodeview.TokenOf(e, now))
			}
			if a.JSON {
				return a.PrintJSON(struct {
					File    string           `json:"file"`
					Revoked []nodeview.Token `json:"revoked"`
				}{path, tokens})
			}
			nodeview.Tokens(a.Terminal, tokens)
			a.Note("taken out of %s", a.Home(path))
			return nil
		},
	}
	a.tokenFileFlag(c, &file)
	c.Flags().BoolVar(&all, "all", false, "every token of that name, where there are several")
	c.ValidArgsFunction = func(_ *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return a.completeTokens(file, args, typed), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
	return c
}

// completeTokens completes the hashes of a file's tokens.
func (a *app) completeTokens(file string, args []string, typed string) []cobra.Completion {
	path, err := a.tokensFile(file)
	if err != nil || len(args) > 0 {
		return nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	all, _ := access.Parse(b)
	var out []cobra.Completion
	for _, e := range all.Entries {
		if t := nodeview.TokenOf(e, time.Now()); strings.HasPrefix(t.SHA256, typed) {
			out = append(out, cobra.CompletionWithDesc(t.Short(), strings.TrimSpace(render.OneLine(t.Name+" "+t.Agent))))
		}
	}
	return out
}

// minHashDigits is the minimum length of the start of a hash that revoke accepts.
const minHashDigits = 6

// revoke removes the entries that text names from a tokens file, and returns them.
func revoke(path, text string, all bool) ([]access.Entry, error) {
	old, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	has, err := access.Parse(old)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	digits, hash := strings.ToLower(text), access.Hash(text)
	found := slices.DeleteFunc(has.Entries, func(e access.Entry) bool {
		sum := strings.ToLower(e.SHA256)
		return e.Name != text && sum != hash && (len(digits) < minHashDigits || !strings.HasPrefix(sum, digits))
	})
	switch {
	case len(found) == 0 && len(has.Mistakes) > 0:
		return nil, fmt.Errorf("%s: no entry in force is of that token; %d with a mistake are not in force (recount token list)", path, len(has.Mistakes))
	case len(found) == 0:
		return nil, fmt.Errorf("%s: no entry is of that token: want its name, %d digits of its SHA-256, or itself", path, minHashDigits)
	case len(found) > 1 && !all:
		return nil, usagef("%d tokens are of that name or begin so: say more of the SHA-256 (recount token list), or --all", len(found))
	}
	now := old
	for _, e := range slices.Backward(found) { // from the end, so that the lines of the others stay valid
		if now, err = access.Remove(now, e.Line); err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", path, e.Line, err)
		}
	}
	return found, replaceTokens(path, old, now)
}
