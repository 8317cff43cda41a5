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
	"io"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/recountdb/recount/schemas"
)

// prefix starts every token, so that redaction knows one where it sees it.
const prefix = "rct_"

// NewToken makes a token of 256 random bits.
func NewToken() string {
	var b [32]byte
	rand.Read(b[:]) // never fails
	return prefix + base64.RawURLEncoding.EncodeToString(b[:])
}

// Hash is the SHA-256 of a token, in hex, as the tokens file has it.
func Hash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// Entry is one token of the tokens file, and what it is good for.
type Entry struct {
	// SHA256 is the token's hash in hex. The token itself stands nowhere.
	SHA256 string `yaml:"sha256"`
	// Name is for people.
	Name string `yaml:"name,omitempty"`
	// Tenant is whose data it sees; empty is the default tenant.
	Tenant string `yaml:"tenant,omitempty"`
	// Workspaces and Sessions are those it belongs to; "*" stands for all of the tenant.
	Workspaces []string `yaml:"workspaces,omitempty,flow"`
	Sessions   []string `yaml:"sessions,omitempty,flow"`
	// Agent is the name under which it appends, and whose private objects it sees. Without
	// one it appends nothing.
	Agent string `yaml:"agent,omitempty"`
	// Expires is when it ends; zero is never.
	Expires time.Time `yaml:"expires,omitempty"`

	sum [sha256.Size]byte
}

func (e *Entry) principal() schemas.Principal {
	return schemas.Principal{Tenant: e.Tenant, Workspaces: e.Workspaces, Sessions: e.Sessions, Agent: e.Agent}
}

// The longest names, as events have them (agents.proto).
const (
	maxName      = 256
	maxWorkspace = 4096
)

// check fills in sum, and says what is wrong.
func (e *Entry) check() error {
	b, err := hex.DecodeString(e.SHA256)
	if err != nil || len(b) != sha256.Size {
		return fmt.Errorf("sha256: %.80q: want the 64 hex digits of a token's SHA-256 (recount token new prints them)", e.SHA256)
	}
	e.sum = [sha256.Size]byte(b)
	for _, f := range []struct {
		field string
		names []string
		most  int
	}{{"tenant", []string{e.Tenant}, maxName}, {"agent", []string{e.Agent}, maxName}, {"workspaces", e.Workspaces, maxWorkspace}, {"sessions", e.Sessions, maxName}} {
		for _, name := range f.names {
			if len(name) > f.most {
				return fmt.Errorf("%s: %d bytes, at most %d", f.field, len(name), f.most)
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
	return nil
}

// Parse reads a tokens file: YAML, with the entries under tokens. What it does not know
// is an error, so that no limit is lost by a misspelling.
func Parse(b []byte) ([]Entry, error) {
	var doc struct {
		Tokens []Entry `yaml:"tokens"`
	}
	dec := yaml.NewDecoder(bytes.NewReader(b))
	dec.KnownFields(true)
	if err := dec.Decode(&doc); err != nil && !errors.Is(err, io.EOF) {
		return nil, errors.New(strings.ReplaceAll(err.Error(), "\n", " "))
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one document")
	}
	seen := map[[sha256.Size]byte]int{}
	for i := range doc.Tokens {
		e := &doc.Tokens[i]
		if err := e.check(); err != nil {
			return nil, fmt.Errorf("tokens[%d]: %w", i, err)
		}
		if first, twice := seen[e.sum]; twice {
			return nil, fmt.Errorf("tokens[%d]: the token of tokens[%d]", i, first)
		}
		seen[e.sum] = i
	}
	return doc.Tokens, nil
}

// Format is an entry as the tokens file has it, to go below tokens.
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

// find looks at every entry, so that how long it takes does not say which it is.
func find(entries []Entry, sum [sha256.Size]byte) *Entry {
	at := -1
	for i := range entries {
		at = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(sum[:], entries[i].sum[:]), i, at)
	}
	if at < 0 {
		return nil
	}
	return &entries[at]
}
