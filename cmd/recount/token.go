package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/access"
)

func (a *app) tokenCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "token", Short: "Make tokens for agents and services: each does what its entry says alone",
		Args: cobra.NoArgs,
	}
	c.AddCommand(a.tokenNewCmd(), a.tokenListCmd(), a.tokenRevokeCmd())
	return c
}

// entryPlace matches the place of a mistake, which is omitted for a file with a single entry.
var entryPlace = regexp.MustCompile(`^line \d+: tokens\[0\]: `)

// defaultLife is the default lifetime of a token.
const defaultLife = "90d"

func (a *app) tokenNewCmd() *cobra.Command {
	var e access.Entry
	var expires, file string
	c := &cobra.Command{
		Use:   "new [--tenant NAME] [--workspace NAME]… [--session NAME]… [--agent NAME]",
		Short: "Make a token",
		Long: `Make a token of 256 random bits, and the entry for the tokens file of the server
(recount up --tokens-file). The token is printed once and stands nowhere: the file has
its SHA-256. With --add-to the entry goes into the file; a running server reads it
within a second or two of being asked.

Who holds the token may ask for evidence (recount ask, POST /v1/query) and append events
of its agent (POST /v1/events). It sees what its tenant may see, what is of its
workspaces and sessions, and what is private to its agent; everything else is as if it
were not there. Commands, code and what runs it sees where --grant says so.

With --grant ingest, which goes alone, it may send spans (OTLP) and append commands and
commits (POST /v1/events), and ask for nothing: for instrumented services and collectors.`,
		Example: `  recount token new --workspace /src/app --agent claude
  recount token new --tenant acme --workspace '*' --session '*' --agent ci --expires 2027-06-30 --add-to tokens.yaml
  recount token new --tenant acme --workspace /src/app --expires never        may ask, not append
  recount token new --grant ingest --name 'web-1 collector'                       may send, not ask`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			var err error
			if e.Expires, err = parseExpiry(time.Now(), expires); err != nil {
				return usagef("--expires %q: %w", expires, err)
			}
			token := access.NewToken()
			e.SHA256 = access.Hash(token)
			entry, err := access.Format(e)
			if err != nil {
				return err
			}
			if _, err := access.ParseAll([]byte("tokens:\n" + entry)); err != nil {
				return asUsage(errors.New(entryPlace.ReplaceAllString(err.Error(), "")))
			}
			if file != "" {
				if err := addToken(file, entry); err != nil {
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
				a.Note("shown this once; added to %s", a.Home(file))
				return nil
			}
			a.Note("shown this once; below `tokens:` of the server's --tokens-file goes:\n%s", strings.TrimRight(entry, "\n"))
			return nil
		},
	}
	f := c.Flags()
	f.StringVar(&e.Tenant, "tenant", "", "whose data it sees (default the default tenant)")
	f.StringSliceVar(&e.Workspaces, "workspace", nil, "a workspace that it belongs to, or * for all of the tenant; may be repeated")
	f.StringSliceVar(&e.Sessions, "session", nil, "a session that it takes part in, or * for all of its workspaces; may be repeated")
	f.StringSliceVar(&e.Grants, "grant", nil, "what it may ask for besides agents' objects: commands (of its workspaces), code, runtime (with both, of all workspaces); erase (what its agent appended); or ingest alone: to append spans and events, and ask for nothing; may be repeated")
	f.StringVar(&e.Agent, "agent", "", "the name under which it appends; without one it may ask only")
	f.StringVar(&e.Name, "name", "", "what it is for, for people who read the file")
	f.StringVar(&expires, "expires", defaultLife, "when it ends: in how long (12h, 90d), a day, an RFC 3339 time, or never")
	f.StringVar(&file, "add-to", "", "the tokens file to add it to; made if it is not there")
	_ = c.MarkFlagFilename("add-to", "yaml", "yml")
	_ = c.RegisterFlagCompletionFunc("grant", cobra.FixedCompletions([]string{schemas.GrantCommands, schemas.GrantCode, schemas.GrantRuntime, schemas.GrantErase, schemas.GrantIngest}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// parseExpiry parses the expiry of a token; the zero time is never.
func parseExpiry(now time.Time, s string) (time.Time, error) {
	if s == "never" {
		return time.Time{}, nil
	}
	t, err := parseWhen(now, s)
	if err != nil || t.IsZero() {
		return t, errors.New("want in how long (12h, 90d), a day (2027-06-30), an RFC 3339 time, or never")
	}
	if span.MatchString(s) {
		t = now.Add(now.Sub(t)) // parseWhen counts back from now
	}
	if !t.After(now) {
		return t, errors.New("that is past")
	}
	return t.UTC().Truncate(time.Second), nil
}

// addToken adds an entry to a tokens file and checks that the result holds the new and all old
// entries.
func addToken(path, entry string) error {
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	before, err := access.ParseAll(old)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	text := string(old)
	if len(before) == 0 {
		// Keep comments and remove an empty list.
		if kept := strings.TrimRight(strings.ReplaceAll(text, "tokens: []", ""), "\n"); !strings.Contains(kept, "tokens:") {
			text = strings.TrimLeft(kept+"\ntokens:\n", "\n")
		}
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	text += entry
	if after, err := access.ParseAll([]byte(text)); err != nil || len(after) != len(before)+1 {
		return fmt.Errorf("%s: tokens is not the last of it, or not a list of one entry below another: add by hand\n%s", path, entry)
	}
	return replaceTokens(path, old, []byte(text))
}

// replaceTokens replaces the tokens file that held before by after, unless it was changed in the
// meantime. A symbolic link is kept.
func replaceTokens(path string, before, after []byte) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	mode := os.FileMode(0o600)
	if st, err := os.Stat(path); err == nil {
		mode = st.Mode().Perm()
	}
	return writeWhole(path, after, mode, func() error {
		now, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if string(now) != string(before) {
			return fmt.Errorf("%s was changed meanwhile: try again", path)
		}
		return nil
	})
}
