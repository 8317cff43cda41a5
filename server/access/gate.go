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

// Gate authenticates requests by their tokens. The nil Gate takes everybody for the operator. It is
// safe for concurrent use.
type Gate struct {
	operator [sha256.Size]byte
	file     *File // nil: only the operator's token is admitted
	now      func() time.Time
	slow     throttle
}

// NewGate returns a gate for the operator's token and a tokens file, which may be nil. Without an
// operator's token it returns nil: everybody is the operator.
func NewGate(operator string, file *File) *Gate {
	if operator == "" {
		return nil
	}
	return &Gate{operator: sha256.Sum256([]byte(operator)), file: file, now: time.Now}
}

// AuthError is the reason why a request is not admitted, or may not do what it asks for.
type AuthError struct {
	// Status is 401 if another token might be admitted, 403 if only the operator's would be, 503 if
	// that is unknown because the tokens file cannot be read, and 429 if too many wrong tokens
	// came.
	Status int
	Why    string
}

// Authenticate returns the principal of a request by the values of its Authorization header, or the reason
// for refusing it. It compares the token's hash with all known hashes in constant time, so that the
// timing reveals nothing about other tokens.
func (g *Gate) Authenticate(authorization ...string) (schemas.Principal, *AuthError) {
	if g == nil {
		return schemas.Principal{Operator: true}, nil
	}
	unauthorized := func(why string) (schemas.Principal, *AuthError) {
		return schemas.Principal{}, &AuthError{http.StatusUnauthorized, why}
	}
	unavailable := func(why string) (schemas.Principal, *AuthError) {
		return schemas.Principal{}, &AuthError{http.StatusServiceUnavailable, why}
	}
	if len(authorization) != 1 {
		return unauthorized("want Authorization: Bearer TOKEN, which recount's verbs take from RECOUNT_TOKEN")
	}
	// The name of the scheme is case-insensitive (RFC 9110, 11.1).
	scheme, token, ok := strings.Cut(authorization[0], " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return unauthorized("want Authorization: Bearer TOKEN")
	}
	sum := sha256.Sum256([]byte(token))
	operator := equal(sum, g.operator)
	var entry *Entry
	var wrong *ParseError
	var unread error
	if g.file != nil {
		now := g.file.current()
		entry, wrong = now.find(sum)
		unread = now.err
	}
	var whole *ParseError
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

// File returns the tokens file, nil if there is none.
func (g *Gate) File() *File {
	if g == nil {
		return nil
	}
	return g.file
}

// Authorize authenticates a request and checks that it may use the operation with this pattern.
func (g *Gate) Authorize(pattern string, authorization ...string) (schemas.Principal, *AuthError) {
	if need, _ := PermissionOf(pattern); need == Public {
		return schemas.Principal{}, nil
	}
	p, refusal := g.Authenticate(authorization...)
	if refusal == nil {
		refusal = Allow(p, pattern)
	}
	return p, refusal
}

type principalKey struct{}

// NewContext returns a context that carries the principal of a request.
func NewContext(ctx context.Context, p schemas.Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// FromContext returns the principal of a request. If the context carries none, known is false and the
// principal is the zero one, which sees what the whole default tenant may see and no more.
func FromContext(ctx context.Context) (p schemas.Principal, known bool) {
	p, known = ctx.Value(principalKey{}).(schemas.Principal)
	return p, known
}
