package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/recountdb/recount/server/access"
)

// Path is where the API serves MCP.
const Path = "/mcp"

const (
	// idleSession is how long a session lives without a message; its client then begins another.
	idleSession = 15 * time.Minute
	// writePatience is how long a client may take to read one message.
	writePatience = 30 * time.Second
	// statelessSince is the first version of the protocol without sessions.
	statelessSince = "2026-07-28"
)

// principalExtra is the key of the principal in the token's information.
const principalExtra = "recount/principal"

// Handler serves clients over streamable HTTP. Whatever calls it has authenticated the request, put
// the principal into its context (package access), and checked host and origin.
func (s *Server) Handler() http.Handler {
	get := func(*http.Request) *sdk.Server { return s.sdk }
	stateful := sdk.NewStreamableHTTPHandler(get, &sdk.StreamableHTTPOptions{
		SessionTimeout: idleSession, MaxRequestBodyBytes: s.o.MaxBody, DisableLocalhostProtection: true, EventStore: newStreams(),
	})
	stateless := sdk.NewStreamableHTTPHandler(get, &sdk.StreamableHTTPOptions{
		Stateless: true, PropagateRequestCancellation: true, MaxRequestBodyBytes: s.o.MaxBody, DisableLocalhostProtection: true,
	})
	context.AfterFunc(s.o.Stopping, func() {
		for session := range s.sdk.Sessions() {
			_ = session.Close() // the client notices by the end of the connection
		}
	})
	serve := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w = &patientWriter{w, http.NewResponseController(w)}
		if r.Header.Get("Mcp-Protocol-Version") >= statelessSince {
			stateless.ServeHTTP(w, r)
			return
		}
		stateful.ServeHTTP(w, r)
	})
	// The SDK refuses a session to every token but the one that began it, by the token's user.
	known := auth.RequireBearerToken(func(ctx context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
		p, known := access.FromContext(ctx)
		if !known {
			return nil, auth.ErrInvalidToken
		}
		sum := sha256.Sum256([]byte(token))
		return &auth.TokenInfo{UserID: hex.EncodeToString(sum[:16]), Extra: map[string]any{principalExtra: p}}, nil
	}, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(serve)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p, found := access.FromContext(r.Context()); found && r.Header.Get("Authorization") == "" {
			// A browser that logged in sends no token: what it may do stands for the token.
			sum := sha256.Sum256(fmt.Appendf(nil, "%+v", p))
			r = r.Clone(r.Context())
			r.Header.Set("Authorization", "Bearer "+hex.EncodeToString(sum[:]))
		}
		known.ServeHTTP(w, r)
	})
}

// patientWriter allows a stream to last, and each write to take writePatience.
type patientWriter struct {
	http.ResponseWriter
	rc *http.ResponseController
}

func (w *patientWriter) Write(b []byte) (int, error) {
	_ = w.rc.SetWriteDeadline(time.Now().Add(writePatience)) // a test's recorder has none
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach Flush and the deadlines.
func (w *patientWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// ownerOf returns who made a request: only they may read the answers that were kept for them.
func ownerOf(extra *sdk.RequestExtra) string {
	if extra == nil || extra.TokenInfo == nil {
		return ""
	}
	return extra.TokenInfo.UserID
}
