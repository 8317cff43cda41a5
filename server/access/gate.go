package access

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/recountdb/recount/schemas"
)

// Gate admits requests by their tokens. The nil Gate takes everybody for the operator.
type Gate struct {
	operator [sha256.Size]byte
	file     *File // nil: none but the operator's token
	now      func() time.Time
	slow     throttle
}

// NewGate makes a gate of the operator's token and of a tokens file, which may be nil.
// Without an operator's token it is nil: everybody is the operator.
func NewGate(operator string, file *File) *Gate {
	if operator == "" {
		return nil
	}
	return &Gate{operator: sha256.Sum256([]byte(operator)), file: file, now: time.Now}
}

// Refusal is why a request is not let in, or may not do what it asks for.
type Refusal struct {
	// Status is 401 where another token would do, 403 where none but the operator's would,
	// 503 where it is not known which would: the tokens file cannot be read. 429 where too
	// many wrong tokens came.
	Status int
	Why    string
}

// Admit says on whose behalf a request comes, by the values of its Authorization header,
// or why it is not let in. Tokens are compared by their hashes, all of them and in
// constant time, so that nothing is told of those that one does not hold.
func (g *Gate) Admit(authorization ...string) (schemas.Principal, *Refusal) {
	if g == nil {
		return schemas.Principal{Operator: true}, nil
	}
	unauthorized := func(why string) (schemas.Principal, *Refusal) {
		return schemas.Principal{}, &Refusal{http.StatusUnauthorized, why}
	}
	unavailable := func(why string) (schemas.Principal, *Refusal) {
		return schemas.Principal{}, &Refusal{http.StatusServiceUnavailable, why}
	}
	if len(authorization) != 1 {
		return unauthorized("want Authorization: Bearer TOKEN")
	}
	// RFC 9110, 11.1: the scheme's name is of no case.
	scheme, token, ok := strings.Cut(authorization[0], " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return unauthorized("want Authorization: Bearer TOKEN")
	}
	sum := sha256.Sum256([]byte(token))
	operator := is(sum, g.operator)
	var entry *Entry
	var wrong *Mistake
	var unread error
	if g.file != nil {
		now := g.file.current()
		entry, wrong = now.find(sum)
		unread = now.err
	}
	var whole *Mistake
	switch {
	case operator:
		return schemas.Principal{Operator: true}, nil
	case errors.As(unread, &whole):
		return unavailable(fmt.Sprintf("no token of the tokens file is in force while it has a mistake at %s: ask the operator (recount token list)", g.file.line(whole.Line)))
	case unread != nil:
		return unavailable(fmt.Sprintf("no token of the tokens file is in force while %s cannot be read: ask the operator (recount token list)", g.file.line(0)))
	case wrong != nil:
		return unauthorized(fmt.Sprintf("the token's entry has a mistake at %s and is not in force: ask the operator (recount token list)", g.file.line(wrong.Line)))
	case entry == nil:
		return unauthorized("the token is unknown; want Authorization: Bearer TOKEN")
	case !entry.Expires.IsZero() && !g.now().Before(entry.Expires):
		return unauthorized(fmt.Sprintf("the token expired at %s: ask the operator for another (recount token new)", entry.Expires.UTC().Format(time.RFC3339)))
	}
	return entry.principal(), nil
}

// File is the tokens file, nil where there is none.
func (g *Gate) File() *File {
	if g == nil {
		return nil
	}
	return g.file
}

// Enter admits a request for an operation of the table, or says why not.
func (g *Gate) Enter(pattern string, authorization ...string) (schemas.Principal, *Refusal) {
	if need, _ := NeedOf(pattern); need == Nothing {
		return schemas.Principal{}, nil
	}
	p, refusal := g.Admit(authorization...)
	if refusal == nil {
		refusal = allow(p, pattern)
	}
	return p, refusal
}

type principalKey struct{}

// With puts a principal into a request's context.
func With(ctx context.Context, p schemas.Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// Of is on whose behalf a request comes. Where nobody said, it is a principal that sees
// nothing but what a whole default tenant may see; known is false.
func Of(ctx context.Context) (p schemas.Principal, known bool) {
	p, known = ctx.Value(principalKey{}).(schemas.Principal)
	return p, known
}
