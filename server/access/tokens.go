package access

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/recountdb/recount/schemas"
)

// prefix starts every token, so that redaction recognises tokens.
const prefix = "rct_"

// NewToken returns a new token of 256 random bits.
func NewToken() string {
	var b [32]byte
	rand.Read(b[:]) // never fails
	return prefix + base64.RawURLEncoding.EncodeToString(b[:])
}

// Hash returns the SHA-256 of a token in hex, as stored in the tokens file.
func Hash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// Entry is one token of the tokens file and its permissions.
type Entry struct {
	// SHA256 is the token's hash in hex. The token itself is not stored.
	SHA256 string `yaml:"sha256"`
	// Name is a label for people.
	Name string `yaml:"name,omitempty"`
	// Tenant is the tenant whose data the token may read; empty is the default tenant.
	Tenant string `yaml:"tenant,omitempty"`
	// Workspaces and Sessions are those that the token belongs to; "*" is all of the tenant.
	Workspaces []string `yaml:"workspaces,omitempty,flow"`
	Sessions   []string `yaml:"sessions,omitempty,flow"`
	// Agent is the name under which the token appends and whose private objects it may read.
	// Without an agent it cannot append agents' events.
	Agent string `yaml:"agent,omitempty"`
	// Grants lists further permissions: to read commands (of the workspaces), code (of all
	// repositories) or runtime; or only ingest, to append commands, commits and spans and read
	// nothing; or erase, to erase what its agent appended.
	Grants []string `yaml:"grants,omitempty,flow"`
	// Expires is the time from which the token is refused; zero is never.
	Expires time.Time `yaml:"expires,omitempty"`
	// Line is the line in the file where the entry begins, from 1.
	Line int `yaml:"-"`

	sum [sha256.Size]byte
}

func (e *Entry) principal() schemas.Principal {
	return schemas.Principal{Tenant: e.Tenant, Workspaces: e.Workspaces, Sessions: e.Sessions, Agent: e.Agent, Grants: e.Grants}
}

// The maximum lengths of names in bytes, the same as in events (agents.proto).
const (
	maxName      = 256
	maxWorkspace = 4096
)

// check sets sum and returns what is wrong with the entry.
func (e *Entry) check() error {
	var ok bool
	if e.sum, ok = parseSum(e.SHA256); !ok {
		return fmt.Errorf("sha256: %.80q: want the 64 hex digits of a token's SHA-256 (recount token new prints them)", e.SHA256)
	}
	for _, f := range []struct {
		field string
		names []string
		most  int
	}{{"tenant", []string{e.Tenant}, maxName}, {"agent", []string{e.Agent}, maxName}, {"workspaces", e.Workspaces, maxWorkspace}, {"sessions", e.Sessions, maxName}} {
		for _, name := range f.names {
			if len(name) > f.most {
				return fmt.Errorf("%s: %d bytes, the maximum is %d", f.field, len(name), f.most)
			}
		}
	}
	for _, f := range []struct {
		field string
		names []string
	}{{"workspaces", e.Workspaces}, {"sessions", e.Sessions}} {
		if slices.Contains(f.names, "") {
			return fmt.Errorf(`%s: "": want a name, or "*" for all of the tenant`, f.field)
		}
	}
	return e.checkGrants()
}

// grants lists the valid values of Entry.Grants.
var grants = []string{schemas.GrantCommands, schemas.GrantCode, schemas.GrantRuntime, schemas.GrantIngest, schemas.GrantErase}

// checkGrants fails if a grant would give access to more than it names.
func (e *Entry) checkGrants() error {
	has := func(grant string) bool { return slices.Contains(e.Grants, grant) }
	for _, g := range e.Grants {
		if !slices.Contains(grants, g) {
			return fmt.Errorf("grants: %.80q: want some of %s", g, strings.Join(grants, ", "))
		}
	}
	switch {
	case has(schemas.GrantIngest) && (len(e.Grants) > 1 || e.Tenant != "" || e.Agent != "" || len(e.Workspaces)+len(e.Sessions) > 0):
		return errors.New("grants: ingest: a token with this grant can have no other grant, tenant, workspace, session or agent: make another token for those")
	case has(schemas.GrantErase) && (e.Agent == "" || len(e.Workspaces) == 0):
		return errors.New("grants: erase: want agent and workspaces too: they say whose events the token may erase")
	case e.Tenant != "" && slices.ContainsFunc(e.Grants, func(g string) bool { return g != schemas.GrantErase }):
		return fmt.Errorf("grants: commands, code and spans belong to the default tenant, but the token to %q", e.Tenant)
	case has(schemas.GrantCommands) && len(e.Workspaces) == 0:
		return errors.New("grants: commands: want workspaces too: they say whose commands the token may see")
	case has(schemas.GrantRuntime) && !(has(schemas.GrantCode) && has(schemas.GrantCommands) && slices.Contains(e.Workspaces, "*")):
		return errors.New(`grants: runtime: answers include code and deploys: want the grants code and commands, and "*" for the workspaces, as well`)
	}
	return nil
}

// Format returns an entry as YAML, to be put below tokens in the tokens file.
func Format(e Entry) (string, error) {
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(struct {
		Tokens []Entry `yaml:"tokens"`
	}{[]Entry{e}}); err != nil {
		return "", err
	}
	_, entry, _ := strings.Cut(b.String(), "\n")
	return entry, nil
}

// equal reports in constant time whether two hashes are equal.
func equal(a, b [sha256.Size]byte) bool { return subtle.ConstantTimeCompare(a[:], b[:]) == 1 }

// find returns the entry of a token, or the mistake of its entry. It compares all entries, so that
// its duration does not depend on which one matches.
func (t Tokens) find(sum [sha256.Size]byte) (entry *Entry, wrong *ParseError) {
	for i := range t.Entries {
		if equal(sum, t.Entries[i].sum) {
			entry = &t.Entries[i]
		}
	}
	for _, m := range t.Mistakes {
		if equal(sum, m.sum) && m.read {
			wrong = m
		}
	}
	return entry, wrong
}
