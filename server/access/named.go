package access

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"

	"github.com/recountdb/recount/schemas"
)

// OperatorName is the user that holds the operator's token, where a protocol asks for a
// name beside it.
const OperatorName = "operator"

// AdmitNamed is Admit for a client that presents a name and a token: the operator's
// name, or that of the token's entry. A token whose entry has no name goes with any but
// the operator's.
func (g *Gate) AdmitNamed(user, token string) (schemas.Principal, *Refusal) {
	p, refusal := g.Admit("Bearer " + token)
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
		return schemas.Principal{}, &Refusal{http.StatusUnauthorized, "the token is another user's: give the name that its entry has, or " + OperatorName + " with the operator's"}
	}
	return p, nil
}

// nameOf is the name of a token of the file, or "".
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
