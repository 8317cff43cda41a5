package access

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"

	"github.com/recountdb/recount/schemas"
)

// OperatorName is the user name that goes with the operator's token in protocols that require a
// user name.
const OperatorName = "operator"

// AuthenticateNamed is Authenticate for a client that presents a user name and a token. The name must be
// OperatorName for the operator's token, else the name of the token's entry. A token whose entry
// has no name is admitted with any name but OperatorName.
func (g *Gate) AuthenticateNamed(user, token string) (schemas.Principal, *AuthError) {
	p, refusal := g.Authenticate("Bearer " + token)
	if refusal != nil || g == nil {
		return p, refusal
	}
	want := OperatorName
	if !p.Operator {
		if want = g.nameOf(token); want == "" && user != OperatorName {
			return p, nil
		}
	}
	if subtle.ConstantTimeCompare([]byte(user), []byte(want)) != 1 {
		return schemas.Principal{}, &AuthError{http.StatusUnauthorized, "the token is another user's: give the name that its entry has, or " + OperatorName + " with the operator's"}
	}
	return p, nil
}

// nameOf returns the name of a token's entry in the file, or "".
func (g *Gate) nameOf(token string) string {
	if g.file == nil {
		return ""
	}
	entry, _ := g.file.current().find(sha256.Sum256([]byte(token)))
	if entry == nil {
		return ""
	}
	return entry.Name
}
