package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/internal/render/nodeview"
	"github.com/recountdb/recount/internal/timespec"
	"github.com/recountdb/recount/internal/tokenfile"
	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/access"
	"github.com/recountdb/recount/server/node"
)

func (a *app) tokenCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "token", Short: "Make and manage tokens for agents and services",
		Args: cobra.NoArgs,
	}
	c.AddCommand(a.tokenNewCmd(), a.tokenListCmd(), a.tokenRevokeCmd())
	return c
}

// entryPlace matches the place of a mistake, which is omitted for a file with a single entry.
var entryPlace = regexp.MustCompile(`^line \d+: tokens\[0\]: `)

// flagOfField replaces the field of the tokens file at which an error begins by its flag.
func flagOfField(problem string) string {
	field, why, _ := strings.Cut(problem, ": ")
	switch field {
	case "grants", "workspaces", "sessions":
		field = strings.TrimSuffix(field, "s")
	case "tenant", "agent", "name", "expires":
	default:
		return problem
	}
	return "--" + field + ": " + why
}

// defaultLife is the default lifetime of a token.
const defaultLife = "90d"

func (a *app) tokenNewCmd() *cobra.Command {
	var e access.Entry
	var expires, file string
	c := &cobra.Command{
		Use:   "new [--tenant NAME] [--workspace NAME]… [--session NAME]… [--agent NAME]",
		Short: "Make a token",
		Long: `Make a token of 256 random bits, and its entry for the tokens file of the server
(recount up --tokens-file). The token is printed once and stored nowhere: the file has
its SHA-256. --add-to adds the entry to the file; a running server uses it within a
second or two of the next request.

The holder of the token may query evidence (recount ask, POST /v1/query) and append
events of its agent (POST /v1/events). It sees what its whole tenant may see, the
objects of its workspaces and sessions, and the private objects of its agent; all other
objects are invisible to it. It sees commands, code and runtime data only with --grant.

A token with --grant ingest, which excludes all other grants, may send spans (OTLP) and
append commands and commits (POST /v1/events), but query nothing: it is for instrumented
services and collectors.`,
		Example: `  recount token new --workspace /src/app --agent claude
  recount token new --tenant acme --workspace '*' --session '*' --agent ci --expires 2027-06-30 --add-to tokens.yaml
  recount token new --tenant acme --workspace /src/app --expires never        may query, not append
  recount token new --grant ingest --name 'web-1 collector'                       may send, not query`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			for _, f := range []struct {
				name   string
				values []string
			}{{"workspace", e.Workspaces}, {"session", e.Sessions}, {"grant", e.Grants}} {
				if cmd.Flags().Changed(f.name) && len(f.values) == 0 {
					return usage.Errorf("--%s %q: it is empty", f.name, "")
				}
			}
			if e.Expires, err = timespec.ParseExpiry(time.Now(), expires); err != nil {
				return usage.Errorf("--expires %q: %w", expires, err)
			}
			token := access.NewToken()
			e.SHA256 = access.Hash(token)
			entry, err := access.Format(e)
			if err != nil {
				return err
			}
			if _, err := access.ParseAll([]byte("tokens:\n" + entry)); err != nil {
				return usage.Wrap(errors.New(flagOfField(entryPlace.ReplaceAllString(err.Error(), ""))))
			}
			if file != "" {
				if err := tokenfile.Add(file, entry); err != nil {
					return err
				}
			}
			if a.JSON {
				return a.PrintJSON(struct {
					Token   string `json:"token"`
					Entry   string `json:"entry"`
					AddedTo string `json:"added_to,omitempty"`
				}{token, entry, file})
			}
			a.Printf("%s\n", token)
			if file != "" {
				a.Note("shown only this once; added to %s", a.Home(file))
				return nil
			}
			a.Note("shown only this once; add this below `tokens:` in the server's --tokens-file:\n%s", strings.TrimRight(entry, "\n"))
			return nil
		},
	}
	f := c.Flags()
	f.StringVar(&e.Tenant, "tenant", "", "the tenant whose data it sees (default the default tenant)")
	f.StringSliceVar(&e.Workspaces, "workspace", nil, "a workspace that it may see, or * for all of the tenant; may be repeated")
	f.StringSliceVar(&e.Sessions, "session", nil, "a session that it may see, or * for all of its workspaces; may be repeated")
	f.StringSliceVar(&e.Grants, "grant", nil, "what it may query besides agents' objects: commands (of its workspaces), code, runtime (with both, of all workspaces); erase (events of its agent); or only ingest: append spans and events, and query nothing; may be repeated")
	f.StringVar(&e.Agent, "agent", "", "the name under which it appends; without one it may only query")
	f.StringVar(&e.Name, "name", "", "a description, for people who read the file")
	f.StringVar(&expires, "expires", defaultLife, "when it expires: after a duration (12h, 90d), on a day, at an RFC 3339 time, or never")
	f.StringVar(&file, "add-to", "", "the tokens file to add it to; created if it is missing")
	_ = c.MarkFlagFilename("add-to", "yaml", "yml")
	_ = c.RegisterFlagCompletionFunc("grant", cobra.FixedCompletions([]string{schemas.GrantCommands, schemas.GrantCode, schemas.GrantRuntime, schemas.GrantErase, schemas.GrantIngest}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// tokensFile returns the tokens file for a verb: that of the flag, else of the config, else of the
// server on the data directory.
func (a *app) tokensFile(flag string) (string, error) {
	if flag != "" {
		return flag, nil
	}
	cfg, err := a.NodeConfig()
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
		return "", usage.Errorf("which tokens file? Neither the config (http.tokens_file) nor a server on %s names one: give --file", a.Home(cfg.DataDir))
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
		Short: "List the tokens of a tokens file, and its mistakes",
		Long: `List the tokens of a tokens file by the start of their SHA-256; the tokens themselves
are stored nowhere. An entry with a mistake is not in force; if the file cannot be read,
no entry is. List then prints the line of the mistake and exits with 1.`,
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
				return fmt.Errorf("%s: %w; none of its tokens is in force", a.Home(path), err)
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
		Short: "Remove a token from a tokens file",
		Long: `Remove a token from a tokens file. TOKEN is its name, the start of its SHA-256 as
recount token list prints it, or the token itself. A running server refuses it within
about a second.`,
		Example: `  recount token revoke 3f9a2c51d07e
  recount token revoke 'claude on the build machine'
  recount token revoke ci --all                        every token of that name`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			path, err := a.tokensFile(file)
			if err != nil {
				return err
			}
			gone, err := tokenfile.Revoke(path, args[0], all)
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
			a.Note("removed from %s", a.Home(path))
			return nil
		},
	}
	a.tokenFileFlag(c, &file)
	c.Flags().BoolVar(&all, "all", false, "every token of that name, if there are several")
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
