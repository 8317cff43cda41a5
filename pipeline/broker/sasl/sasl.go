// Package sasl authenticates Kafka's clients by the mechanisms PLAIN, SCRAM-SHA-256 and
// SCRAM-SHA-512. An Authenticator knows the users and begins an Exchange for each attempt, which
// takes the client's tokens and returns the answers to them. It knows nothing of connections: the
// broker carries the tokens, delays the answer to a wrong password and closes the connection.
//
// What is kept of a password are salted keys (4,096 iterations). A wrong name and a wrong password
// get the same answer, and a salt that does not reveal which it was.
package sasl

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/xdg-go/scram"
)

// The supported SASL mechanisms.
const (
	Plain       = "PLAIN"
	ScramSHA256 = "SCRAM-SHA-256"
	ScramSHA512 = "SCRAM-SHA-512"
)

// allMechanisms lists the mechanisms in the order in which clients are offered them, the best
// first.
var allMechanisms = []string{ScramSHA512, ScramSHA256, Plain}

// Options configure who may connect over TCP.
type Options struct {
	// Users maps user names to credentials. If it is empty and Login is nil, everyone may connect
	// without authentication; otherwise a connection may do nothing but authenticate until it has.
	// All Users may do everything.
	Users map[string]Credential

	// Login, if not nil, checks the name and password of clients that are not in Users and returns
	// their rights; an error refuses the connection. It needs the password itself, so it is called
	// only for the mechanism PLAIN, and only over TLS or from this machine.
	Login func(user, password string) (Session, error)

	// Mechanisms lists those offered: PLAIN, SCRAM-SHA-256 and SCRAM-SHA-512. Leave PLAIN out if
	// the network is not trusted: it sends the password. Empty: all three.
	Mechanisms []string
}

// Credential is what the broker keeps of a password: salted keys that can check it but do not
// reveal it. NewCredential creates one.
type Credential struct {
	sha256, sha512 scram.StoredCredentials
}

// maxUserBytes is the maximum length of a user's name.
const maxUserBytes = 256

// scramIterations is the minimum of RFC 7677, which Kafka also uses.
const scramIterations = 4096

// NewCredential derives a user's credential from its password, with a new random salt.
func NewCredential(password string) (Credential, error) {
	salt := make([]byte, 16)
	_, _ = rand.Read(salt) // never fails
	return deriveCredential(password, string(salt))
}

func deriveCredential(password, salt string) (c Credential, err error) {
	if password == "" {
		return c, errors.New("the password is empty")
	}
	if c.sha256, err = deriveKeys(scram.SHA256, password, salt); err != nil {
		return Credential{}, err
	}
	c.sha512, err = deriveKeys(scram.SHA512, password, salt)
	return c, err
}

func deriveKeys(h scram.HashGeneratorFcn, password, salt string) (scram.StoredCredentials, error) {
	// The keys do not depend on the user's name.
	client, err := h.NewClient("user", password, "")
	if err != nil {
		return scram.StoredCredentials{}, fmt.Errorf("derive keys: %w", err)
	}
	return client.GetStoredCredentials(scram.KeyFactors{Salt: salt, Iters: scramIterations}), nil
}

// Validate returns an error that names the first invalid option.
func (o Options) Validate() error {
	for _, m := range o.Mechanisms {
		if !slices.Contains(allMechanisms, m) {
			return fmt.Errorf("option SASL.Mechanisms has %q, want one of %s", m, strings.Join(allMechanisms, ", "))
		}
	}
	for name, c := range o.Users {
		switch {
		case name == "" || len(name) > maxUserBytes || !utf8.ValidString(name) || strings.ContainsRune(name, 0):
			return fmt.Errorf("option SASL.Users has the name %q, want 1 to %d bytes of UTF-8 without NUL", name, maxUserBytes)
		case c.sha256.StoredKey == nil || c.sha512.StoredKey == nil:
			return fmt.Errorf("option SASL.Users: %q has no credential: make it with NewCredential", name)
		}
	}
	return nil
}

// Authenticator verifies clients' identities.
type Authenticator struct {
	users      map[string]Credential
	login      func(user, password string) (Session, error)
	mechanisms []string

	// secret derives salts for users that do not exist, the same each time.
	secret []byte
	// nobody is checked for such a user, so that it takes the same time.
	nobody Credential
	// deriving limits how many passwords are hashed at once, since anyone can make the broker hash
	// by sending PLAIN tokens.
	deriving chan struct{}
}

// ErrAuth is the error for clients, whatever was wrong: a client must not learn whether the name or
// the password was wrong.
var ErrAuth = errors.New("authentication failed: wrong user or password")

// NewAuthenticator returns an authenticator for valid options.
func NewAuthenticator(o Options) (*Authenticator, error) {
	a := &Authenticator{
		users:      o.Users,
		login:      o.Login,
		mechanisms: o.Mechanisms,
		secret:     make([]byte, 32),
		deriving:   make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2)),
	}
	switch {
	case len(o.Users) == 0:
		a.mechanisms = nil
	case len(a.mechanisms) == 0:
		a.mechanisms = allMechanisms
	}
	_, _ = rand.Read(a.secret) // never fails
	var err error
	if len(a.mechanisms) > 0 {
		a.nobody, err = NewCredential(rand.Text())
	}
	return a, err
}

// credential returns a credential for every name: for a user that does not exist, one with a
// constant salt and keys that nothing proves.
func (a *Authenticator) credential(name string) Credential {
	if c, ok := a.users[name]; ok {
		return c
	}
	mac := hmac.New(sha256.New, a.secret)
	mac.Write([]byte(name))
	c := a.nobody
	c.sha256.Salt = string(mac.Sum(nil)[:16])
	c.sha512.Salt = c.sha256.Salt
	return c
}

// plain checks a PLAIN token: authorisation id, NUL, name, NUL, password.
func (x *Exchange) plain(token []byte) (user string, err error) {
	a := x.a
	parts := bytes.Split(token, []byte{0})
	if len(parts) != 3 {
		return "", errors.New("authentication failed: a PLAIN token is [authzid] NUL name NUL password")
	}
	authz, name, password := string(parts[0]), string(parts[1]), string(parts[2])
	if authz != "" && authz != name {
		return "", errors.New("authentication failed: acting for another user is not supported")
	}
	_, known := a.users[name]
	if !slices.Contains(a.mechanisms, Plain) || !known && x.private && a.login != nil {
		if x.Session, err = a.login(name, password); err != nil {
			return "", fmt.Errorf("authentication failed: %w", err)
		}
		return name, nil
	}
	c := a.credential(name)
	a.deriving <- struct{}{}
	got, err := deriveKeys(scram.SHA256, password, c.sha256.Salt)
	<-a.deriving
	if err != nil || !hmac.Equal(got.StoredKey, c.sha256.StoredKey) {
		return "", ErrAuth
	}
	return name, nil
}

// Exchange is one connection's authentication in progress.
type Exchange struct {
	// Mechanism is the name of the mechanism.
	Mechanism string
	// Session returns the rights that Login granted, after the last Step; nil for one of Users.
	Session Session

	a       *Authenticator
	private bool         // nobody else can read the traffic
	scram   *scramServer // nil for PLAIN
}

// Offered returns the mechanisms that a client may use, in order of preference; private reports that
// nobody else can read its traffic.
func (a *Authenticator) Offered(private bool) []string {
	if a.login == nil || !private || slices.Contains(a.mechanisms, Plain) {
		return a.mechanisms
	}
	return append(slices.Clone(a.mechanisms), Plain)
}

// Begin starts an exchange; nil if the mechanism is not offered.
func (a *Authenticator) Begin(mechanism string, private bool) *Exchange {
	if !slices.Contains(a.Offered(private), mechanism) {
		return nil
	}
	x := &Exchange{a: a, Mechanism: mechanism, private: private}
	switch mechanism {
	case ScramSHA256:
		x.scram = &scramServer{hash: sha256.New, keys: func(user string) scram.StoredCredentials { return a.credential(user).sha256 }}
	case ScramSHA512:
		x.scram = &scramServer{hash: sha512.New, keys: func(user string) scram.StoredCredentials { return a.credential(user).sha512 }}
	}
	return x
}

// Step takes a token and returns the answer. user is set once the client has proved its identity,
// which ends the exchange, as does an error.
func (x *Exchange) Step(token []byte) (answer []byte, user string, err error) {
	if x.scram == nil {
		user, err = x.plain(token)
		return []byte{}, user, err
	}
	said, done, err := x.scram.step(string(token))
	switch {
	case errors.Is(err, ErrAuth):
		return nil, "", err
	case err != nil:
		return nil, "", fmt.Errorf("authentication failed: %s: %w", x.Mechanism, err)
	case done:
		user = x.scram.user
	}
	return []byte(said), user, nil
}
