package broker

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recountdb/recount/pipeline/broker/sasl"
)

// The supported SASL mechanisms.
const (
	MechanismPlain       = sasl.Plain
	MechanismScramSHA256 = sasl.ScramSHA256
	MechanismScramSHA512 = sasl.ScramSHA512
)

// SASLOptions configure who may connect over TCP.
type SASLOptions = sasl.Options

// Credential is what the broker keeps of a password: salted keys that can check it but do not
// reveal it. NewCredential creates one.
type Credential = sasl.Credential

// NewCredential derives a user's credential from its password, with a new random salt.
func NewCredential(password string) (Credential, error) { return sasl.NewCredential(password) }

// A connection authenticates in two steps. SaslHandshake names the mechanism; then tokens are
// exchanged: in SaslAuthenticate requests, or, after version 0 of the handshake, bare in frames of
// their own. Any failure ends the connection, after an answer with the reason if there is a place
// for it.

func (b *Broker) authRequired() bool { return len(b.opts.SASL.Users) > 0 || b.opts.SASL.Login != nil }

// failedAuthDelay delays the answer to a wrong password, to slow down guessing. Clients know such a
// delay from Apache Kafka.
const failedAuthDelay = 100 * time.Millisecond

func (b *Broker) openSASL() (err error) {
	b.auth, err = sasl.NewAuthenticator(b.opts.SASL)
	return err
}

func (b *Broker) addSASLAPIs(t map[int16]api) {
	t[kmsg.SASLHandshake.Int16()] = api{min: 0, max: 1, serve: b.serveSASLHandshake, open: true}
	t[kmsg.SASLAuthenticate.Int16()] = api{min: 0, max: 2, serve: b.serveSASLAuthenticate, open: true}
}

func (b *Broker) serveSASLHandshake(_ context.Context, r *request) (kmsg.Response, error) {
	req, c := r.msg.(*kmsg.SASLHandshakeRequest), r.conn
	resp := req.ResponseKind().(*kmsg.SASLHandshakeResponse)
	if !b.authRequired() || c.authed.Load() || c.auth != nil {
		resp.ErrorCode = kerr.IllegalSaslState.Code
		return resp, nil
	}
	resp.SupportedMechanisms = b.auth.Offered(c.private())
	c.auth = b.auth.Begin(req.Mechanism, c.private())
	if c.auth == nil {
		resp.ErrorCode = kerr.UnsupportedSaslMechanism.Code
		return resp, nil // the client may try another
	}
	if req.Version == 0 {
		c.raw = c.rawToken
	}
	return resp, nil
}

func (b *Broker) serveSASLAuthenticate(_ context.Context, r *request) (kmsg.Response, error) {
	req, c := r.msg.(*kmsg.SASLAuthenticateRequest), r.conn
	resp := req.ResponseKind().(*kmsg.SASLAuthenticateResponse)
	if c.auth == nil {
		resp.ErrorCode = kerr.IllegalSaslState.Code
		resp.ErrorMessage = kmsg.StringPtr("SaslAuthenticate without a preceding SaslHandshake")
		return resp, nil
	}
	answer, err := c.authenticate(req.SASLAuthBytes)
	if err != nil {
		resp.ErrorCode = kerr.SaslAuthenticationFailed.Code
		resp.ErrorMessage = kmsg.StringPtr(err.Error())
		c.stop() // after this answer
		return resp, nil
	}
	resp.SASLAuthBytes = answer
	return resp, nil
}

// authenticate takes the next token. After the last one the connection belongs to the user; a
// failed attempt cannot be repeated.
func (c *conn) authenticate(token []byte) ([]byte, error) {
	answer, user, err := c.auth.Step(token)
	switch {
	case err != nil:
		c.b.log.Warn("authentication failed", "remote", c.nc.RemoteAddr().String(), "mechanism", c.auth.Mechanism, "err", err)
		c.auth = nil
		select {
		case <-time.After(failedAuthDelay):
		case <-c.ctx.Done():
		}
	case user != "":
		c.principal, c.session, c.auth = user, c.auth.Session, nil
		c.authed.Store(true)
	}
	return answer, err
}

// rawToken answers a bare token, and expects another one if the exchange continues.
func (c *conn) rawToken(token []byte) ([]byte, error) {
	answer, err := c.authenticate(token)
	if err != nil {
		return nil, fmt.Errorf("sasl: %w", err)
	}
	if c.auth != nil {
		c.raw = c.rawToken
	}
	return answer, nil
}
