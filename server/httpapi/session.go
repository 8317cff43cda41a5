package httpapi

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/access"
)

// Login by a browser (decision 118). POST /login exchanges a token for a session, which has two
// secrets: a cookie that scripts cannot read, and a key that the page keeps in the storage of its
// origin and sends as a header. A request needs both. A browser sends cookies to every port of a
// host, so that a server of another user of this machine may be sent the cookie; the storage belongs
// to this port alone. The key is also what a page of another origin cannot send.
//
// Sessions live in memory and end with the process. The token behind a session is checked at each
// request like one in Authorization: a session lasts no longer than its token.
const (
	sessionLife = 12 * time.Hour
	maxSessions = 1024
	// keyHeader carries the key of a session.
	keyHeader = "Recount-Session-Key"
	// sessionPath answers who the asker is; it needs a valid token and nothing else.
	sessionPath = "GET /session"
	maxLogin    = 4 << 10
)

// sessions holds the sessions of a process.
type sessions struct {
	mu   sync.Mutex
	each map[[sha256.Size]byte]session // by the hash of the cookie's value
}

type session struct {
	token string
	key   [sha256.Size]byte // the hash of the session's key
	until time.Time
}

// begin returns the secrets of a new session. If there are too many, the one that would end first
// ends now.
func (s *sessions) begin(token string, now time.Time) (id, key string) {
	id, key = secret(), secret()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.each == nil {
		s.each = map[[sha256.Size]byte]session{}
	}
	var first [sha256.Size]byte
	for at, x := range s.each {
		if !now.Before(x.until) {
			delete(s.each, at)
		} else if begun, ok := s.each[first]; !ok || x.until.Before(begun.until) {
			first = at
		}
	}
	if len(s.each) >= maxSessions {
		delete(s.each, first)
	}
	s.each[sha256.Sum256([]byte(id))] = session{token, sha256.Sum256([]byte(key)), now.Add(sessionLife)}
	return id, key
}

// token returns the token of a session, if both secrets are right and it has not ended.
func (s *sessions) token(id, key string, now time.Time) (token string, ok bool) {
	s.mu.Lock()
	x, ok := s.each[sha256.Sum256([]byte(id))]
	s.mu.Unlock()
	sum := sha256.Sum256([]byte(key))
	if !ok || subtle.ConstantTimeCompare(sum[:], x.key[:]) != 1 || !now.Before(x.until) {
		return "", false
	}
	return x.token, true
}

func (s *sessions) end(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.each, sha256.Sum256([]byte(id)))
}

// secret returns 256 random bits as text.
func secret() string {
	var b [32]byte
	rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// cookieName returns the name of the session's cookie. It has the port in it, because the servers on
// all ports of a host share their cookies.
func cookieName(r *http.Request) string {
	_, port, _ := net.SplitHostPort(r.Host)
	name := "recount-" + cmp.Or(port, "default")
	if r.TLS != nil {
		return "__Host-" + name
	}
	return name
}

// sessionAuthorization returns the value of Authorization that a request has by its session, if it
// has one and comes from a page of this origin.
func (o Options) sessionAuthorization(r *http.Request) []string {
	cookie, err := r.Cookie(cookieName(r))
	if o.sessions == nil || err != nil || !fromHere(r) {
		return nil
	}
	token, ok := o.sessions.token(cookie.Value, r.Header.Get(keyHeader), time.Now())
	if !ok {
		return nil
	}
	return []string{"Bearer " + token}
}

// fromHere reports whether a request comes from a page of this origin: what the browser says about
// it must say so, and a request that may change something must say it.
func fromHere(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" {
		return false
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return r.Method == http.MethodGet || r.Method == http.MethodHead
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host == r.Host
}

// registerSession adds the endpoints of the login.
func (s *server) registerSession(mux *http.ServeMux) {
	mux.HandleFunc("POST /login", s.login)
	mux.HandleFunc("POST /logout", s.logout)
	mux.HandleFunc(sessionPath, func(w http.ResponseWriter, r *http.Request) {
		p, _ := access.FromContext(r.Context())
		writeJSON(w, sessionAnswer{
			Login: s.o.Gate != nil, Operator: p.Operator, Tenant: p.Tenant, Agent: p.Agent,
			Workspaces: p.Workspaces, Grants: p.Grants, Version: s.o.Version,
		})
	})
}

// sessionAnswer is the answer of GET /session.
type sessionAnswer struct {
	// Login reports whether tokens are needed: without them there is nothing to log out of.
	Login      bool     `json:"login"`
	Operator   bool     `json:"operator"`
	Tenant     string   `json:"tenant"`
	Agent      string   `json:"agent"`
	Workspaces []string `json:"workspaces"`
	Grants     []string `json:"grants"`
	Version    string   `json:"version"`
}

func (s *server) login(w http.ResponseWriter, r *http.Request) {
	media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if media != mediaJSON || !fromHere(r) {
		problem(w, http.StatusForbidden, "a login needs Content-Type: application/json and an Origin that is this server's")
		return
	}
	if s.o.Gate == nil {
		problem(w, http.StatusConflict, "this server has no tokens: there is no login, and everything may be asked without")
		return
	}
	var in struct {
		Token string `json:"token"`
	}
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxLogin))
	if err == nil {
		err = json.Unmarshal(b, &in)
	}
	if err != nil || in.Token == "" {
		problem(w, http.StatusUnprocessableEntity, `want {"token":"rct_…"}`)
		return
	}
	if _, refusal := s.o.Gate.AuthorizeFrom(r.Context(), r.RemoteAddr, sessionPath, "Bearer "+in.Token); refusal != nil {
		refuse(w, refusal)
		return
	}
	id, key := s.o.sessions.begin(in.Token, time.Now())
	http.SetCookie(w, &http.Cookie{
		Name: cookieName(r), Value: id, Path: "/", MaxAge: int(sessionLife.Seconds()),
		HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteStrictMode,
	})
	writeJSON(w, map[string]string{"key": key})
}

// logout ends the session of a request. It needs the cookie only, so that a page that has lost its
// key can end the session too.
func (s *server) logout(w http.ResponseWriter, r *http.Request) {
	if !fromHere(r) {
		problem(w, http.StatusForbidden, "a logout needs an Origin that is this server's")
		return
	}
	if cookie, err := r.Cookie(cookieName(r)); err == nil {
		s.o.sessions.end(cookie.Value)
	}
	http.SetCookie(w, &http.Cookie{Name: cookieName(r), Path: "/", MaxAge: -1, HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteStrictMode})
	w.WriteHeader(http.StatusNoContent)
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", mediaJSON)
	_ = json.NewEncoder(w).Encode(v) // the client may have disconnected
}

// admitted returns the principal of a request by its token or, without one, its session.
func (o Options) admitted(r *http.Request, operation string) (schemas.Principal, *access.AuthError) {
	authorization := r.Header.Values("Authorization")
	if len(authorization) == 0 {
		authorization = o.sessionAuthorization(r)
	}
	return o.Gate.AuthorizeFrom(r.Context(), r.RemoteAddr, operation, authorization...)
}
