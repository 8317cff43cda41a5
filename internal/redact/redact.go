// Package redact takes secrets out of payloads before they become events. What is in
// the log stays in the log, so this is the producer's work: the shell hook and every
// verb go through it by way of the command line's Append, and the HTTP door calls it
// for what clients send.
//
// What is a secret in a text is the business of package secrets below, which a small
// program can use by itself; which texts an event has is that of event.go and otlp.go.
package redact

import (
	"github.com/recountdb/recount/internal/redact/secrets"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Redactor takes secrets out of texts and payloads. It is safe for concurrent use.
type Redactor struct{ *secrets.Redactor }

// The types of package secrets, for those who need payloads as well.
type (
	Rule    = secrets.Rule
	Options = secrets.Options
	Finding = secrets.Finding
)

// New has the built-in rules and the extra ones. An error names the rule.
func New(o Options) (*Redactor, error) {
	r, err := secrets.New(o)
	if err != nil {
		return nil, err
	}
	return &Redactor{r}, nil
}

// maxRedactions bounds what source.revised says of one file (events.proto).
const maxRedactions = 65536

// Source takes secrets out of the content of a file under version control, and says what
// and where: see secrets.Redactor.File.
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

// Default has the built-in rules.
func Default() *Redactor { return &Redactor{secrets.Default()} }

// Load reads a Redactor's extra rules from a YAML (or JSON) file; see secrets.Load.
func Load(path string) (Options, error) { return secrets.Load(path) }

// Placeholder is what stands in the text for a secret of that name.
func Placeholder(name string) string { return secrets.Placeholder(name) }
