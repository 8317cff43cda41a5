package redact

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/recountdb/recount/internal/redact/secrets"
	"github.com/recountdb/recount/schemas/otlpwire"
)

// maxNesting limits values inside values of one attribute. It exceeds what senders use, and
// protects every reader of the log from deep recursion.
const maxNesting = 32

// ErrText means that a string is not UTF-8, or that values are nested too deeply. The message is
// refused; other messages beside it can be kept.
var ErrText = errors.New("cannot be kept")

// OTLP redacts a message in wire format: attribute values, the names of spans and events, and
// status messages. It returns b itself if nothing is found, else a new slice; unknown fields, order
// and encoding are preserved. A value whose name indicates a secret
// (http.request.header.authorization, db.password, cookies) is replaced completely. An error is
// otlpwire.ErrMalformed, ErrText or the context's; a message without an error can be decoded by any
// protobuf library.
func (r *Redactor) OTLP(ctx context.Context, m *otlpwire.Message, b []byte) ([]byte, []Finding, error) {
	w := wire{ctx: ctx, r: r}
	out, err := w.message(m, b, 0, false)
	if err != nil {
		return nil, nil, err
	}
	if out == nil {
		return b, nil, nil
	}
	return out, w.found, nil
}

// wire is one pass over a message. Its methods return nil for unchanged input.
type wire struct {
	ctx   context.Context // ends the pass
	r     *Redactor
	deep  bool // accepts values nested deeper than maxNesting
	found []Finding
}

// message redacts the fields of m. secret means that its name indicates a secret; depth is the
// number of enclosing values.
func (w *wire) message(m *otlpwire.Message, b []byte, depth int, secret bool) (out []byte, err error) {
	f := m.Read(b)
	for f.Next() {
		var replaced []byte
		if field := f.Field(); field.Kind != otlpwire.Other {
			if replaced, err = w.field(field, f.Content(), depth, secret); err != nil {
				return nil, err
			}
		}
		switch {
		case replaced != nil:
			if out == nil {
				out = append(make([]byte, 0, len(b)+32), b[:f.Start]...)
			}
			out = protowire.AppendTag(out, f.Num, f.Type)
			out = protowire.AppendBytes(out, replaced)
		case out != nil:
			out = append(out, f.Raw()...)
		}
	}
	return out, f.Err()
}

func (w *wire) field(f otlpwire.Field, v []byte, depth int, secret bool) ([]byte, error) {
	if f.Kind == otlpwire.Name || f.Kind == otlpwire.Text {
		if err := checkText(v); err != nil {
			return nil, err
		}
	}
	switch {
	case f.Kind == otlpwire.Text, f.Kind == otlpwire.Bytes:
		return w.text(v, secret)
	case f.Of == nil:
		return nil, nil
	case f.Of == otlpwire.KeyValue:
		secret = secret || secretKey(keyOf(v))
	case f.Of == otlpwire.AnyValue:
		if depth == maxNesting && !w.deep {
			return nil, fmt.Errorf("%w: values nested deeper than %d", ErrText, maxNesting)
		}
		depth++
	}
	return w.message(f.Of, v, depth, secret)
}

// keyOf returns the key of a KeyValue, which may follow the value; nil if the bytes are not one.
func keyOf(b []byte) (key []byte) {
	f := otlpwire.KeyValue.Read(b)
	for f.Next() {
		if f.IsBytes(1) {
			key = f.Content()
		}
	}
	if f.Err() != nil {
		return nil
	}
	return key
}

// text redacts one text; secret means that its name indicates a secret. Numbers and booleans under
// such a name are not changed: they are counts and switches.
func (w *wire) text(b []byte, secret bool) ([]byte, error) {
	s := unsafe.String(unsafe.SliceData(b), len(b)) // only read, and not kept
	if secret && secrets.Value(s) {
		if secrets.Whole(s) {
			return nil, nil
		}
		w.found = append(w.found, Finding{Name: "secret", Bytes: len(s)})
		return []byte(Placeholder("secret")), nil
	}
	out, found, err := w.r.TextContext(w.ctx, s)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	w.found = append(w.found, found...)
	return []byte(out), nil
}

func checkText(v []byte) error {
	if utf8.Valid(v) {
		return nil
	}
	return fmt.Errorf("%w: text that is not UTF-8: %.40q", ErrText, bytes.ToValidUTF8(v, []byte("\uFFFD")))
}

// secretEnds are the ends of attribute names whose values are secret, indexed by their last letter,
// which rules out most names at once.
var secretEnds = func() (byLast [256][]secretEnd) {
	ends := []secretEnd{{"pass", true}, {"pwd", true}, {"jwt", true}, {"passcode", true}, {"x-session", true}, {"x-session-id", true}, {"sessionid", true}}
	for _, name := range []string{"card-number", "cardnumber", "credit-card", "creditcard", "cvv", "cvc", "ssn"} { // of payments and persons
		ends = append(ends, secretEnd{name, true})
	}
	for _, name := range []string{"password", "passwd", "passphrase", "secret", "token", "credential", "credentials", "authorization", "cookie"} {
		ends = append(ends, secretEnd{name, false})
	}
	for _, name := range []string{"api", "access", "secret", "account", "encryption", "signing", "auth", "master", "private", "shared"} {
		ends = append(ends, secretEnd{name + "key", false}, secretEnd{name + "-key", false})
	}
	for _, e := range ends {
		last := e.text[len(e.text)-1]
		byLast[last] = append(byLast[last], e)
		byLast[last-'a'+'A'] = append(byLast[last-'a'+'A'], e)
	}
	return byLast
}()

// secretEnd is in lower case, with hyphens for word separators. A whole word must begin the name or
// follow a separator: bypass does not indicate a secret.
type secretEnd struct {
	text  string
	whole bool
}

// secretKey reports whether an attribute's name indicates a secret.
func secretKey(key []byte) bool {
	if len(key) == 0 {
		return false
	}
	for _, e := range secretEnds[key[len(key)-1]] {
		if e.ends(key) {
			return true
		}
	}
	return false
}

func (e secretEnd) ends(key []byte) bool {
	from := len(key) - len(e.text)
	if from < 0 {
		return false
	}
	for i := len(e.text) - 1; i >= 0; i-- {
		c := lower(key[from+i])
		if c == '_' || c == '.' {
			c = '-'
		}
		if c != e.text[i] {
			return false
		}
	}
	return !e.whole || from == 0 || strings.IndexByte("-_./:", key[from-1]) >= 0
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
