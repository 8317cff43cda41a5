// Package redact removes secrets from payloads before they become events. What is in the log stays
// in the log, so this happens at the producer: the shell hook and every verb use it through the
// command line's Append, and the HTTP API uses it for what clients send.
//
// Package secrets below recognises secrets in a text, and can be used alone by a small program.
// event.go and otlp.go define which texts an event has.
package redact

import (
	"github.com/recountdb/recount/internal/redact/secrets"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Redactor removes secrets from texts and payloads. It is safe for concurrent use.
type Redactor struct{ *secrets.Redactor }

// These are the types of package secrets, for callers that handle payloads as well.
type (
	Rule    = secrets.Rule
	Options = secrets.Options
	Finding = secrets.Finding
)

// New returns a Redactor with the built-in rules and the extra ones. An error names the rule.
func New(o Options) (*Redactor, error) {
	r, err := secrets.New(o)
	if err != nil {
		return nil, err
	}
	return &Redactor{r}, nil
}

// maxRedactions limits the redactions listed for one file in source.revised (events.proto).
const maxRedactions = 65536

// Source removes secrets from the content of a file under version control, and returns what was
// removed and where: see secrets.Redactor.File.
func (r *Redactor) Source(content []byte) ([]byte, []*recountv1.Redaction) {
	out, found := r.File(string(content))
	if len(found) == 0 {
		return content, nil
	}
	said := make([]*recountv1.Redaction, min(len(found), maxRedactions))
	for i := range said {
		said[i] = &recountv1.Redaction{Kind: found[i].Name, Line: int32(found[i].Line)}
	}
	return []byte(out), said
}

// Default returns a Redactor with the built-in rules.
func Default() *Redactor { return &Redactor{secrets.Default()} }

// Load reads a Redactor's extra rules from a YAML (or JSON) file; see secrets.Load.
func Load(path string) (Options, error) { return secrets.Load(path) }

// Placeholder returns the text that replaces a secret of that kind.
func Placeholder(name string) string { return secrets.Placeholder(name) }
