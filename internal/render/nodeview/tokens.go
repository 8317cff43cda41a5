package nodeview

import (
	"strings"
	"time"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/server/access"
)

// Token is a token as list prints it; its text is not stored.
type Token struct {
	SHA256     string     `json:"sha256"`
	Name       string     `json:"name,omitempty"`
	Tenant     string     `json:"tenant,omitempty"`
	Agent      string     `json:"agent,omitempty"`
	Workspaces []string   `json:"workspaces,omitempty"`
	Sessions   []string   `json:"sessions,omitempty"`
	Grants     []string   `json:"grants,omitempty"`
	Expires    *time.Time `json:"expires,omitempty"`
	Expired    bool       `json:"expired,omitempty"`
}

// TokenOf returns an entry of a tokens file as it is printed.
func TokenOf(e access.Entry, now time.Time) Token {
	t := Token{SHA256: strings.ToLower(e.SHA256), Name: e.Name, Tenant: e.Tenant, Agent: e.Agent, Workspaces: e.Workspaces, Sessions: e.Sessions, Grants: e.Grants}
	if !e.Expires.IsZero() {
		t.Expires, t.Expired = &e.Expires, !now.Before(e.Expires)
	}
	return t
}

// shownDigits is the number of digits of a hash that list prints.
const shownDigits = 12

// Short returns the start of the hash, which is enough to name the token.
func (t Token) Short() string { return t.SHA256[:shownDigits] }

// Tokens prints tokens as a table.
func Tokens(term *render.Terminal, tokens []Token) {
	if len(tokens) == 0 {
		term.Printf("no tokens\n")
		return
	}
	rows := [][]string{{"SHA-256", "NAME", "TENANT", "AGENT", "WORKSPACES", "SESSIONS", "GRANTS", "EXPIRES"}}
	or := func(s, otherwise string) string {
		if s == "" {
			return otherwise
		}
		return render.OneLine(s)
	}
	for _, t := range tokens {
		ends := "never"
		if t.Expires != nil {
			ends = t.Expires.UTC().Format(time.RFC3339)
			if t.Expired {
				ends = "expired " + ends
			}
		}
		rows = append(rows, []string{
			t.Short(), or(t.Name, "-"), or(t.Tenant, "default"), or(t.Agent, "-"),
			or(strings.Join(t.Workspaces, ","), "-"), or(strings.Join(t.Sessions, ","), "-"), or(strings.Join(t.Grants, ","), "-"), ends,
		})
	}
	render.Table(term.Out, rows)
}
